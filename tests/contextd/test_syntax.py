import subprocess
import sys

from repositories.definitions import LANGUAGES
from tests.server import ROOT

# In a process of its own, since what goes wrong is that it crashes or never ends.
READ_ALL = """
import sys
from contextd import syntax
for language in sys.argv[1:]:
    for text in (
        "{\\U0010ffff", "{\\u4e2d}", "{a#.", "#.", "\\u4e2d", "\\ud800", "\\0", "a b c", ""
    ):
        syntax.root_of(text, language)
print("read")
"""


def test_no_text_crashes_a_grammar_or_holds_it_up() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, *sorted(LANGUAGES)],
        cwd=ROOT,
        timeout=120,
        capture_output=True,
        text=True,
    )

    assert (done.stdout, done.returncode) == ("read\n", 0), done.stderr[-500:]
