"""What is read from errors as they are printed, however they were decorated on their way."""

from collections.abc import Callable

import pytest

from contextd.faults import Fault, parse
from tests.faults.samples import Sample, render, samples

SAMPLES = samples()
JAVA = """\
java.lang.IllegalStateException: the pool is closed
\tat com.acme.Pool.take(Pool.java:9)"""
PYTHON = """\
Traceback (most recent call last):
  File "/app/main.py", line 3, in run
    job()
ValueError: no such job"""


def before_each_line(prefix: str) -> Callable[[str], str]:
    return lambda text: "\n".join(prefix + line for line in text.split("\n"))


def compose_in_colours(text: str) -> str:
    return coloured(DECORATIONS["Docker compose"](text))


def service_of_compose(text: str) -> str:
    return before_each_line("api  | ")(f"{text}\n")


def coloured(text: str) -> str:
    return "\n".join(f"\x1b[1;31m{line}\x1b[0m" for line in text.split("\n"))


def with_windows_line_ends(text: str) -> str:
    return text.replace("\n", "\r\n")


DECORATIONS: dict[str, Callable[[str], str]] = {
    "GitHub Actions": before_each_line("2024-05-01T12:00:00.1234567Z "),
    "GitHub Actions, as an error": before_each_line("2024-05-01T12:00:00.1234567Z ##[error]"),
    "GitLab": before_each_line("2024-05-01T12:00:00.123456Z 00O "),
    "Jenkins": before_each_line("[2024-05-01T12:00:00.123Z] "),
    "Docker compose": before_each_line("web_1  | "),
    "Docker compose, without a number": service_of_compose,
    "kubectl": before_each_line("[pod/web-5d4f8c7b9-x2x7k/app] "),
    "concurrently": before_each_line("[0] "),
    "gh run view": before_each_line("build\tRun tests\t2024-05-01T12:00:00.1234567Z "),
    "Docker build": before_each_line("#12 3.456 "),
    "Kubernetes": before_each_line("2024-05-01T12:00:00.123456789Z stderr F "),
    "klog": before_each_line("E0501 12:00:00.123456    4711 server.go:31] "),
    "logcat": before_each_line("05-01 12:00:00.123  4711  4712 E AndroidRuntime: "),
    "logcat, brief": before_each_line("E/AndroidRuntime( 4711): "),
    "Android Studio": before_each_line("2024-05-01 12:00:00.123 4711-4712/com.acme E/App: "),
    "syslog": before_each_line("May  1 12:00:00 web1 shop[4711]: "),
    "journal": before_each_line("2024-05-01T12:00:00+00:00 web1 shop[4711]: "),
    "Heroku": before_each_line("2024-05-01T12:00:00.123456+00:00 app[web.1]: "),
    "git push": before_each_line("remote: "),
    "colours": coloured,
    "Windows": with_windows_line_ends,
    "compose in colours": compose_in_colours,
}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_an_error_is_read_as_it_is_printed(sample: Sample) -> None:
    assert render(parse(sample.text)) == sample.expected


@pytest.mark.parametrize("decoration", DECORATIONS)
def test_decoration_changes_nothing(decoration: str) -> None:
    decorated = {sample.name: DECORATIONS[decoration](sample.text) for sample in SAMPLES}

    assert {name: parse(text) for name, text in decorated.items()} == {
        sample.name: parse(sample.text) for sample in SAMPLES
    }


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-05-01 12:00:00,123 ERROR [main] com.acme.Jobs - ",
        "2024-05-01 12:00:00,123 - acme.jobs - ERROR - ",
        "2024-05-01 12:00:00.123 | ERROR    | acme.jobs:run:12 - ",
        "2024-05-01 12:00:00.123 ERROR 4711 --- [main] com.acme.Jobs      : ",
        "[2024-05-01 12:00:00,123: ERROR/MainProcess] ",
        "[2024-05-01 12:00:00 +0000] [4711] [ERROR] ",
        "E, [2024-05-01T12:00:00.123456 #4711] ERROR -- : ",
        "2024/05/01 12:00:00 [error] 12#12: *1 ",
        "12:00:00.123 [main] ERROR com.acme.Jobs - ",
        "ERROR:acme.jobs:",
        "[ERROR] ",
        "##[error]",
        "::error file=jobs.py,line=3::",
    ],
)
def test_what_a_logger_puts_before_a_message_changes_nothing(prefix: str) -> None:
    line = "ValueError: no such job"

    assert parse(prefix + line) == parse(line)
    assert parse(prefix + JAVA) == parse(JAVA)


def test_nothing_is_read_from_nothing() -> None:
    assert parse("") == parse(" \n\t\n") == Fault()


def test_a_message_in_front_of_its_own_trace_adds_nothing() -> None:
    assert parse(f"java.lang.IllegalStateException: the pool is closed\n{JAVA}") == parse(JAVA)
    assert parse(f"ValueError: no such job\n{PYTHON}") == parse(PYTHON)


def test_the_first_trace_of_a_text_is_the_error() -> None:
    assert parse(f"{JAVA}\n\n{PYTHON}") == parse(JAVA)
    assert parse(f"{PYTHON}\n\n{JAVA}") == parse(PYTHON)
    assert parse(f"{JAVA}\ncom.acme.Later: x\n\tat com.acme.Later.run(Later.java:1)") == parse(JAVA)


def test_log_lines_around_a_trace_are_not_its_message() -> None:
    log = f"INFO starting\nERROR job 3 failed: see below\n{PYTHON}\nINFO done\nERROR: exiting"

    assert parse(log) == parse(PYTHON)


def test_log_lines_right_behind_a_trace_are_not_its_message() -> None:
    log = f"{PYTHON}\n[2024-05-01 12:00:00 +0000] [7] [INFO] Worker exiting"

    assert parse(log) == parse(PYTHON)


def test_a_trace_tells_more_than_the_exit_code_after_it() -> None:
    assert parse(f"{PYTHON}\n##[error]Process completed with exit code 1.") == parse(PYTHON)


def test_what_failed_tells_more_than_that_something_failed() -> None:
    build = "Error: build failed\nsrc/a.ts(3,5): error TS2304: Cannot find name 'x'.\nexit code 2"

    assert parse(build).error_type == "TS2304"


def test_a_stack_alone_is_read_without_a_type() -> None:
    frames_only = parse(JAVA.partition("\n")[2])

    assert (frames_only.error_type, frames_only.error_line) == ("", "")
    assert frames_only.frames == parse(JAVA).frames


def test_places_without_an_error_are_no_trace() -> None:
    assert parse("shop/cart.py:3: in total\nTHE  END").error_type == ""


def test_an_endless_message_is_cut() -> None:
    assert len(parse("ValueError: " + "x" * 50_000).message) == 2_000


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("AssertionError: expected [] to have a length of 2", ""),
        ("TimeoutError: Navigation timeout of 30000 ms exceeded", ""),
        ("fatal error: openssl/ssl.h: No such file or directory", ""),
        ("fatal error: all goroutines are asleep - deadlock!", "go"),
        ("fatal error: bad state\n\ngoroutine 1 [running]:", "go"),
        ("AttributeError: 'Cart' object has no attribute 'x'", "python"),
    ],
)
def test_a_name_that_several_languages_have_tells_none(text: str, language: str) -> None:
    assert parse(text).language == language
