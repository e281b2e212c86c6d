from typing import Any

import pytest

from checkpoints.models import Checkpoint
from contextd import pipeline, search
from contextd.errors import NotFound
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_only_what_is_given_changes(call: Call, save: Save) -> None:
    saved = save("one", description="all", context={"a": "b"}, tags=["t"])

    call("checkpoint_update", id=saved, summary="two")

    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.summary, checkpoint.description) == ("two", "all")
    assert (checkpoint.context, checkpoint.tags) == ({"a": "b"}, ["t"])


def test_everything_can_change_and_be_emptied(call: Call, save: Save) -> None:
    saved = save("one", description="all", context={"a": "b"}, tags=["t"])

    call("checkpoint_update", id=saved, description="", context={}, tags=[])

    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.description, checkpoint.context, checkpoint.tags) == ("", {}, [])


def test_it_is_found_by_its_new_words_and_no_longer_by_the_old(call: Call, save: Save) -> None:
    saved = save("The zeppelin hangar")
    save("The submarine dock")

    call("checkpoint_update", id=saved, summary="The orchard fence")

    assert call("checkpoint_search", query="orchard fence").results[0].id == saved
    assert call("checkpoint_search", query="zeppelin", top_k=1).results[0].score < 0.5


def test_one_of_a_project_that_is_not_granted_cannot_be_changed(
    call: Call, save: Save, stranger_to: Any
) -> None:
    secret = save("secret", project_path="/w/secret")

    with pytest.raises(NotFound):
        pipeline.call("checkpoint_update", {"id": secret, "summary": "x"}, stranger_to("/w/secret"))
    assert Checkpoint.objects.get().summary == "secret"


def test_one_that_is_deleted_meanwhile_stays_deleted(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("one")
    prepare = search.prepare

    def prepare_while_it_is_deleted(*texts: str) -> search.Prepared:
        Checkpoint.objects.all().delete()
        return prepare(*texts)

    monkeypatch.setattr(search, "prepare", prepare_while_it_is_deleted)
    with pytest.raises(NotFound):
        call("checkpoint_update", id=saved, summary="two")

    assert not Checkpoint.objects.exists()


def test_what_others_change_meanwhile_stays(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("one", description="zebra")
    others: list[dict[str, Any]] = [{"description": "orchard"}, {"tags": ["theirs"]}]
    prepare = search.prepare

    def prepare_while_others_write(*texts: str) -> search.Prepared:
        if others:
            Checkpoint.objects.update(**others.pop(0))
        return prepare(*texts)

    monkeypatch.setattr(search, "prepare", prepare_while_others_write)
    call("checkpoint_update", id=saved, summary="two")

    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.summary, checkpoint.description) == ("two", "orchard")
    assert checkpoint.tags == ["theirs"]
    assert call("checkpoint_search", query="orchard").results[0].score > 0.3


def test_a_change_without_text_needs_no_embedding(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("one")
    monkeypatch.setattr(search, "prepare", None)

    assert call("checkpoint_update", id=saved, tags=["t"]).notice is None
