"""What is taken off a text, and what must stay on."""

import pytest

from contextd.faults import clean

REQUEST = "7d444840-9dc0-11d1-b245-5ffdce74fad2"


@pytest.mark.parametrize(
    ("printed", "cleaned"),
    [
        ("\x1b[1;31merror\x1b[0m: x\x1b[K", "error: x"),
        ("\x1b]8;;https://example.com\x07link\x1b]8;;\x07", "link"),
        ("[31merror[0m: the escapes were lost", "error: the escapes were lost"),
        (r"\u001b[31merror\u001b[39m: escapes spelled out", "error: escapes spelled out"),
        ("rate(requests[5m])", "rate(requests[5m])"),
        ("10%\r50%\r100%", "100%"),
        ("downloading\r\x1b[Kdone", "done"),
        ("\x1b[2K\x1b[1Gdone", "done"),
        ("expected <a\r b> but", "expected <a"),
        ("section_start:1560896352:build\r\x1b[0KBuild", "Build"),
        ("section_end:1560896352:build\r\x1b[0K", ""),
        ("##[group]Run tests", "Run tests"),
        ("[2024-05-01T12:00:00.123Z]   indented", "  indented"),
        ("\tat com.acme.Pool", "    at com.acme.Pool"),
        ("trailing \t ", "trailing"),
        ("2024-05-01 12:00:00,123 ERROR [main] a.b.C - disk is full", "ERROR: disk is full"),
        ("2024-05-01 12:00:00,123 INFO  [main] a.b.C - started", "started"),
        ("[ 1234.567890] oom-killer invoked", "oom-killer invoked"),
        ("[INFO] [ERROR] both", "ERROR: both"),
        ("build\tRun tests\t2024-05-01T12:00:00.1Z one\ttwo", "one    two"),
        ("build\tRun tests\tone", "build    Run tests    one"),
        ("[pod/web-1/app] one", "one"),
        ("[0] one", "one"),
        ("rm: \u2018x\u2019 \u201cy\u201d \u00abz\u00bb", 'rm: \'x\' "y" "z"'),
        ("KeyError: &#x27;x&#x27; &lt;b&gt;", "KeyError: 'x' <b>"),
        ("2024-05-01 12:00:00 \u2502 Error: no plan", "Error: no plan"),
        ("a\r\u2502 bcd", "bcd"),
        ("[01-May-2024 12:00:00 UTC] PHP Fatal error:  x", "PHP Fatal error:  x"),
        (
            "[Wed Oct 11 14:32:52.123456 2023] [core:error] [pid 35708:tid 43] [client [::1]:5] x",
            "error: x",
        ),
        ("[Wed Oct 11 14:32:52 2023] [error] [client 127.0.0.1] x", "error: x"),
        ("[Wed Oct 11 14:32:52.1 2023] [mpm_event:notice] [pid 1:tid 2] AH00489: x", "AH00489: x"),
        (f"2024-05-01T12:00:00.123Z\t{REQUEST}\tERROR\tx", "ERROR: x"),
        (f"[ERROR]\t2024-05-01T12:00:00.123Z\t{REQUEST}\tx", "ERROR: x"),
        (f"2024-05-01T12:00:00.123Z\t{REQUEST}\tINFO\tx", "x"),
        ("\x1b_bk;t=1714564800123\x07one", "one"),
        ("name='a' &quot;b&quot;", "name='a' &quot;b&quot;"),
        ("\u2577\n\u2502 Error: no plan\n\u2575", "\nError: no plan\n"),
        ("2024-05-01 12:00:00 ERROR api ValueError: x", "ERROR: ValueError: x"),
        ("ERROR disk is full", "ERROR disk is full"),
        ("api  | one\napi  |\napi  | 2024-05-01 12:00:00 two\ndb   | x", "one\n\ntwo\ndb   | x"),
        ("<br />\nWarning: x", "\nWarning: x"),
        ("ERROR: x", "ERROR: x"),
        ("12 |     let names = vec![];", "12 |     let names = vec![];"),
        ("name  | type", "name  | type"),
        ("[main] is a branch", "[main] is a branch"),
        ("10:30 was the time", "10:30 was the time"),
        ("plain \u00e4\u4e16\ud800", "plain \u00e4\u4e16\ud800"),
    ],
)
def test_decoration_goes_and_content_stays(printed: str, cleaned: str) -> None:
    assert clean(printed) == cleaned


def test_lines_stay_lines() -> None:
    assert clean("one\r\n\r\n2024-05-01T12:00:00Z two\n\n") == "one\n\ntwo\n\n"


def test_codes_inside_codes_go_too() -> None:
    nested = "[3" * 50 + "1m" * 50

    assert clean(clean(nested)) == clean(nested)
    assert "[31m" not in clean(nested)
