"""A text is cut to its messages and the frames that are the application's own."""

from contextd.faults import focus
from tests.faults.samples import samples

JAVA = """\
org.junit.ComparisonFailure: expected:<[a]> but was:<[b]>
	at org.junit.Assert.assertEquals(Assert.java:115)
	at com.acme.CartTest.total(CartTest.java:27)
	at sun.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
	at java.lang.reflect.Method.invoke(Method.java:498)
Caused by: java.io.IOException: gone
	at com.acme.Disk.read(Disk.java:3)
	... 12 more"""
PYTHON = """\
Traceback (most recent call last):
  File "/app/main.py", line 3, in <module>
    run()
  File "/app/jobs.py", line 9, in run
    fetch(url)
  File "/venv/lib/python3.11/site-packages/requests/api.py", line 73, in get
    return request("get", url)
requests.exceptions.ConnectionError: gone"""


def test_frames_of_frameworks_go() -> None:
    assert focus(JAVA).split("\n") == [
        "org.junit.ComparisonFailure: expected:<[a]> but was:<[b]>",
        "    at com.acme.CartTest.total(CartTest.java:27)",
        "Caused by: java.io.IOException: gone",
        "    at com.acme.Disk.read(Disk.java:3)",
    ]


def test_frames_go_with_their_source_lines() -> None:
    assert focus(PYTHON).split("\n") == [
        '  File "/app/main.py", line 3, in <module>',
        "    run()",
        '  File "/app/jobs.py", line 9, in run',
        "    fetch(url)",
        "requests.exceptions.ConnectionError: gone",
    ]


def test_the_innermost_frames_stay() -> None:
    assert "main.py" not in focus(PYTHON, frames=1)
    assert "jobs.py" in focus(PYTHON, frames=1)
    assert "CartTest" in focus(JAVA, frames=1)


def test_each_stack_keeps_its_own_frames() -> None:
    deep = "\n".join(f"\tat com.acme.Deep.call{n}(Deep.java:{n})" for n in range(50))
    focused = focus(f"a.B: x\n{deep}\nCaused by: c.D: y\n{deep}", frames=4)

    assert focused.count("    at com.acme.Deep.call3(Deep.java:3)") == 2
    assert "call4(" not in focused


def test_frames_of_frameworks_stay_where_there_are_no_others() -> None:
    text = "java.lang.IllegalStateException: x\n\tat java.lang.Thread.run(Thread.java:829)"

    assert "Thread.run" in focus(text)


def test_what_was_cut_can_be_cut_no_further() -> None:
    cut = [focus(sample.text) for sample in samples()]

    assert [focus(text) for text in cut] == cut


def test_prose_stays_as_it_is() -> None:
    assert focus("The dashboard shows\nlast week's numbers.") == (
        "The dashboard shows\nlast week's numbers."
    )
