from pathlib import Path

import pytest

from contextd.errors import Invalid
from tests.conftest import Call
from threats import changed_files

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


def test_files_that_point_to_nothing_bring_nothing(call: Call, few: Path) -> None:
    assert call("threats_for_files", paths=["LICENSE"]).threats == []


def test_so_many_are_told_as_are_asked_for(call: Call, few: Path) -> None:
    assert len(call("threats_for_files", paths=["a/views.py"], limit=1).threats) == 1


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
    ("pattern", "path", "is_meant"),
    [
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
