import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from contextd.errors import Invalid
from tests.conftest import Call
from tests.threats.conftest import LoadFrom
from threats import changed_files, knowledge, signs

Added = Callable[[str], None]

DIFF = """\
diff --git a/shop/exports.py b/shop/exports.py
--- a/shop/exports.py
+++ b/shop/exports.py
@@ -1,3 +1,9 @@
 from celery import shared_task
+
+@shared_task
+def export_document(document_id):
+    document = Document.objects.get(pk=document_id)
+    return document.as_pdf()
-old line
diff --git a/old.py b/old.py
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
diff --git a/a.txt b/b.txt
similarity index 100%
rename from a.txt
rename to b.txt
"""
UNGUARDED = """\
diff --git a/shop/views.py b/shop/views.py
--- a/shop/views.py
+++ b/shop/views.py
@@ -1,5 +1,3 @@
-@permission_required("shop.delete_order")
-@csrf_protect
+
 def delete(request, pk):
     Order.objects.get(pk=pk).delete()
"""


@pytest.fixture
def add(few: Path, load_from: LoadFrom) -> Added:
    """Load one more of the threats that ship."""

    def add(key: str) -> None:
        shutil.copy(next(knowledge.FOLDER.rglob(f"TMKB-{key}.yaml")), few)
        load_from(few)

    return add


def written(path: str, text: str) -> str:
    """The diff of a new file."""
    lines = [f"+{line}" for line in text.split("\n")]
    head = f"diff --git a/{path} b/{path}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@"
    return "\n".join([head, *lines, ""])


def test_the_name_of_a_file_points_to_threats(call: Call, few: Path) -> None:
    found = call("threats_for_files", paths=["/src/shop/tasks.py"]).threats

    assert found[0].id == "TMKB-AUTHZ-001"
    assert found[0].files == ["/src/shop/tasks.py"]
    assert "a file is named like **/tasks.py" in found[0].reasons
    assert found[0].check


def test_what_is_written_points_to_threats(call: Call, few: Path) -> None:
    found = call("threats_for_files", diff=DIFF).threats

    assert found[0].id == "TMKB-AUTHZ-001"
    assert found[0].files == ["shop/exports.py"]
    assert found[0].reasons[0].startswith("it has been written: Task bodies that load a row")


def test_a_name_that_many_threats_share_counts_less(call: Call, few: Path) -> None:
    found = call("threats_for_files", paths=["shop/views.py", "accounts/password_reset.py"])

    assert found.threats[0].id == "TMKB-AUTHN-001"


def test_a_removed_guard_is_reported(call: Call, add: Added) -> None:
    add("AUTHZ-013")
    add("AUTHN-003")
    found = call("threats_for_files", diff=UNGUARDED).threats

    assert [threat.id for threat in found[:2]] == ["TMKB-AUTHN-003", "TMKB-AUTHZ-013"]
    assert "it has been removed: A login, permission or role guard" in found[1].reasons
    assert "it has been removed: A protection against cross-site requests" in found[0].reasons


@pytest.mark.parametrize(
    "diff",
    [
        UNGUARDED.replace("+\n", '+@permission_required("shop.delete")\n+@csrf_protect\n'),
        UNGUARDED.replace("+++ b/shop/views.py", "+++ /dev/null"),
    ],
    ids=["replaced beside it", "deleted with its file"],
)
def test_a_guard_that_is_replaced_or_has_nothing_to_guard_is_not(
    call: Call, add: Added, diff: str
) -> None:
    add("AUTHZ-013")
    add("AUTHN-003")
    found = call("threats_for_files", diff=diff).threats

    assert [reason for one in found for reason in one.reasons if "has been removed" in reason] == []


def test_a_deleted_file_points_to_no_threat(call: Call, few: Path) -> None:
    path = "accounts/password_reset.py"
    text = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-eval(x)\n"
    binary = "diff --git a/views.py b/views.py\ndeleted file mode 100644\nBinary files differ\n"

    assert call("threats_for_files", diff=text + binary, paths=[path]).threats == []


def test_files_that_point_to_nothing_bring_nothing(call: Call, few: Path) -> None:
    assert call("threats_for_files", paths=["LICENSE"]).threats == []


def test_so_many_are_told_as_are_asked_for(call: Call, few: Path) -> None:
    assert len(call("threats_for_files", paths=["a/views.py"], limit=1).threats) == 1


def test_what_takes_too_long_to_look_for_is_left_out_and_said(call: Call, add: Added) -> None:
    """To its end this search would take hours, and hold up all other callers meanwhile."""
    add("JOB-003")
    endless = "findOne( if " * 1_000 + "=" * 400_000
    diff = written("a.js", endless) + written("b.py", 'cursor.execute(f"DELETE {name}")')
    found = call("threats_for_files", diff=diff)

    late = "Not fully checked within the time limit: TMKB-JOB-003 in a.js."
    assert found.notice.startswith(late)
    assert "TMKB-INJ-001" in [threat.id for threat in found.threats]


def test_when_no_time_is_left_the_longest_files_are_left_out(
    call: Call, few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "MATCH_TIMEOUT_SECONDS", 0)
    found = call("threats_for_files", diff="".join(written(f"{n}.py", "x" * n) for n in range(8)))

    assert "within the time limit: anything in 0.py, anything in 1.py," in found.notice
    assert "anything in 4.py and 3 more." in found.notice


def test_what_is_written_is_looked_at_in_every_file(call: Call, few: Path) -> None:
    long = "".join(written(f"long/{number}.txt", "nothing\n" * 20) for number in range(20))
    found = call("threats_for_files", diff=long + written("short.py", "cursor.execute(f'x')"))

    assert ["short.py"] in [threat.files for threat in found.threats]
    part = "Of 21 files the 20 longest were compared by meaning, the others by names and regular"
    assert found.notice.startswith(part)


def test_that_not_all_is_found_by_meaning_is_said(call: Call, few: Path) -> None:
    found = call("threats_for_files", paths=["shop/tasks.py"])

    assert found.notice.startswith("Passages that are not embedded yet")


def test_the_start_of_a_line_is_that_of_any_line(call: Call, add: Added) -> None:
    add("SUPPLY-003")
    found = call("threats_for_files", diff=written("x", "FROM python\nARG PIP_TOKEN"))

    assert "TMKB-SUPPLY-003" in [threat.id for threat in found.threats]


@pytest.mark.parametrize(
    ("given", "message"),
    [({}, "paths or diff is required"), ({"diff": "no diff"}, "diff names no file")],
)
def test_without_a_file_there_is_no_answer(
    call: Call, few: Path, given: dict[str, str], message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        call("threats_for_files", **given)


def test_a_diff_is_read_as_git_prints_it() -> None:
    changed = {file.path: file.added for file in changed_files.in_diff(DIFF)}

    assert list(changed) == ["shop/exports.py", "old.py", "b.txt"]
    assert "document_id" in changed["shop/exports.py"]
    assert "old line" not in changed["shop/exports.py"]
    assert (changed["old.py"], changed["b.txt"]) == ("", "")


@pytest.mark.parametrize(
    ("diff", "path"),
    [
        ('+++ "b/caf\\303\\251 \\"1\\"\\t.py"\n', 'café "1"\t.py'),
        ("--- a/x y.py\t\n+++ b/x y.py\t\n", "x y.py"),
        ("diff --git a/x y.py b/x y.py\nnew file mode 100644\nindex 0..e69de29\n", "x y.py"),
        ('diff --git "a/\\303\\251" "b/\\303\\251"\nBinary files differ\n', "é"),
        (
            "diff --git a/logo.png b/logo.png\nBinary files /dev/null and b/logo.png differ\n",
            "logo.png",
        ),
        ("diff --git a/x b/b/x\nsimilarity index 100%\nrename from x\nrename to b/x\n", "b/x"),
        ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "y"),
        ("diff --git x x\n--- x\n+++ x\n", "x"),
        ("--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n", "x"),
        ("--- a/x\n+++ b/y\n", "y"),
        ("diff --git i/x w/x\n--- i/x\n+++ w/x\n", "x"),
        ("diff --git i/logo.png w/logo.png\nBinary files differ\n", "logo.png"),
        ("diff --git c/run.sh i/run.sh\nold mode 100644\nnew mode 100755\n", "run.sh"),
        ("diff --git w/x i/x\n--- w/x\n+++ i/x\n", "x"),
        ("diff --git 1/x 2/y\n--- 1/x\n+++ 2/y\n", "y"),
        ("diff --git b/x.py b/x.py\n--- b/x.py\n+++ b/x.py\n", "b/x.py"),
        ("diff --git b/x b/y\nrename from b/x\nrename to b/y\n--- b/x\n+++ b/y\n", "b/y"),
        ("diff --git b/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n", "b/x"),
        ("diff --cc b/x\nindex 1,2..3\n--- a/b/x\n+++ b/b/x\n", "b/x"),
    ],
)
def test_files_are_named_as_git_names_them(diff: str, path: str) -> None:
    assert [file.path for file in changed_files.in_diff(diff)] == [path]


def test_lines_that_look_like_headers_are_content() -> None:
    diff = (
        "--- a/x.md\n+++ b/x.md\n@@ -1,2 +1,4 @@\n--- old\n+++ weird\n \n+rename to z\f+\n"
        "+b\u2028c\n\\ No newline at end of file\n"
        "@@ -9 +9 @@ f\n+d\n-e\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1,9 @@\n+f\n"
        "diff --git a/z b/z\n--- a/z\n+++ b/z\n+g\n"
    )
    added = {file.path: file.added for file in changed_files.in_diff(diff)}

    assert added == {"x.md": "++ weird\nrename to z\f+\nb\u2028c\nd", "y": "f", "z": "g"}


MERGE = """\
diff --cc x.py
index 1,2..3
--- a/x.py
+++ b/x.py
@@@ -1,3 -1,3 +1,4 @@@
  def f(a, b):
- eval(a)
 -    return b
++    assert a
 +    eval(b)
+     return a
diff --cc y.py
--- a/y.py
+++ b/y.py
@@@ -1,1 -1,0 +1,1 @@@
 -- x
++y
"""


def test_a_merge_is_read_with_the_lines_of_all_its_parents() -> None:
    x, y = changed_files.in_diff(MERGE)

    assert x.added == "    assert a\n    eval(b)\n    return a"
    assert x.removed == "eval(a)\n    return b"
    assert (y.added, y.removed) == ("y", "- x")


def test_a_file_of_several_commits_has_the_lines_of_all() -> None:
    part = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+one\n"
    deleted = part.replace("+++ b/x", "+++ /dev/null")

    (both,) = changed_files.in_diff(f"commit 1\n\nrename to z\n\n{part}\ncommit 2\n\n{part}")
    assert both.added == "one\none"
    (again,) = changed_files.in_diff(deleted + part)
    assert (again.added, again.is_deleted) == ("one", False)


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        (".github/workflows/**", ".github/workflows/ci.yml", True),
        (".github/workflows/**", "/repo/.github/workflows/ci.yml", True),
        (".github/workflows/**", "/repo/my.github/workflows/ci.yml", False),
        ("nginx.conf", "C:/etc/Nginx.conf", True),
        ("/setup.py", "setup.py", True),
        ("**/*", "a", True),
        ("**/tasks.py", "tasks.py", True),
        ("**/tasks.py", "a/b/tasks.py", True),
        ("**/tasks.py", "a/my_tasks.py", False),
        ("**/tasks/**", "a/tasks/b/c.py", True),
        ("*coupon*.py", "shop/coupon_views.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/?.py", "src/a.py", True),
        ("*.(py)", "a.py", False),
    ],
)
def test_patterns_mean_files_as_in_gitignore(pattern: str, path: str, is_meant: bool) -> None:
    assert changed_files.is_meant(path, pattern) is is_meant
