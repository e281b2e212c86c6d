"""Records that ship in files, beside what people make of them."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections, models
from django.test.utils import CaptureQueriesContext, isolate_apps

from contextd import search, shipped
from contextd.models import ShippedRecord
from contextd.shipped import Library, Loaded, Reading, Record
from contextd.yaml_files import Complaint

DOMAIN = "proverb"

with isolate_apps("contextd"):

    class Proverb(ShippedRecord):
        text = models.TextField()
        said_on = models.DateField(null=True)
        is_shown = models.BooleanField(default=True)

        objects: models.Manager["Proverb"] = models.Manager()

        class Meta:
            app_label = "contextd"
            db_table = "test_proverb"

        def __str__(self) -> str:
            return self.key


@dataclass
class Files:
    """What ships just now, by key."""

    folder: Path
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)
    announced: list[Iterable[str]] = field(default_factory=list)

    @property
    def library(self) -> Library:
        return Library(
            name="proverbs",
            domain=DOMAIN,
            folder=self.folder,
            model=Proverb,
            read=self._read,
            text_of=lambda row: (row.key, row.text),
            announce=self.announced.append,
        )

    def load(self, **texts: str) -> Loaded:
        self.texts = {key: {"text": text} for key, text in texts.items()}
        return shipped.load(self.library)

    def _read(self) -> Reading:
        records = [Record(key, values) for key, values in self.texts.items()]
        return Reading(records, self.complaints)


@pytest.fixture
def files(transactional_db: None, tmp_path: Path) -> Iterator[Files]:
    with connection.schema_editor() as editor:
        editor.create_model(Proverb)
    yield Files(tmp_path)
    with connection.schema_editor() as editor:
        editor.delete_model(Proverb)


def edit(key: str, text: str) -> None:
    Proverb.objects.filter(key=key).update(text=text)


def said(key: str) -> str:
    return Proverb.objects.get(key=key).text


def found(words: str) -> list[str]:
    hits = search.find(words, domain=DOMAIN, projects=None, limit=5).hits
    keys = Proverb.objects.in_bulk([hit.record_id for hit in hits])
    return [keys[hit.record_id].key for hit in hits if hit.lexical]


def test_what_is_new_is_added_and_found(files: Files) -> None:
    loaded = files.load(bird="The early bird", cook="Too many cooks")

    assert loaded.added == ["bird", "cook"]
    assert said("bird") == "The early bird"
    assert found("early") == ["bird"]


def test_what_has_not_changed_is_not_touched(files: Files) -> None:
    files.load(bird="The early bird")
    with CaptureQueriesContext(connection) as queries:
        loaded = files.load(bird="The early bird")

    assert loaded == Loaded()
    assert not [q for q in queries if q["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]


def test_what_has_changed_is_updated_and_found_anew(files: Files) -> None:
    files.load(bird="The early bird")
    loaded = files.load(bird="The late worm")

    assert loaded.updated == ["bird"]
    assert said("bird") == "The late worm"
    assert (found("worm"), found("early")) == (["bird"], [])


def test_what_a_person_wrote_stays_and_the_newer_text_is_offered(files: Files) -> None:
    files.load(bird="The early bird")
    edit("bird", "My bird")
    unmoved = files.load(bird="The early bird")
    moved = files.load(bird="The late worm")

    assert unmoved.offered == []
    assert moved.offered == ["bird"]
    assert said("bird") == "My bird"
    assert Proverb.objects.get().offered == {"text": "The late worm"}


def test_an_offer_can_be_taken(files: Files) -> None:
    files.load(bird="The early bird")
    edit("bird", "My bird")
    files.load(bird="The late worm")

    taken = shipped.take_offered(files.library, Proverb.objects.all())
    loaded = files.load(bird="The late worm, again")

    assert [row.key for row in taken] == ["bird"]
    assert loaded.updated == ["bird"]
    assert found("worm") == ["bird"]


def test_an_offer_ends_when_the_product_goes_back(files: Files) -> None:
    files.load(bird="The early bird")
    edit("bird", "My bird")
    files.load(bird="The late worm")
    files.load(bird="The early bird")

    assert Proverb.objects.get().offered is None
    assert said("bird") == "My bird"


def test_who_writes_what_ships_anyway_has_edited_nothing(files: Files) -> None:
    files.load(bird="The early bird")
    edit("bird", "The late worm")
    files.load(bird="The late worm")
    loaded = files.load(bird="The third text")

    assert loaded.updated == ["bird"]


def test_what_ships_no_more_is_retired_and_not_found(files: Files) -> None:
    files.load(bird="The early bird", cook="Too many cooks")
    loaded = files.load(cook="Too many cooks")
    again = files.load(cook="Too many cooks")

    assert (loaded.retired, again.retired) == (["bird"], [])
    assert Proverb.objects.get(key="bird").is_retired
    assert found("early") == []


def test_what_ships_again_is_back(files: Files) -> None:
    files.load(bird="The early bird")
    files.load()
    loaded = files.load(bird="The early bird")

    assert loaded.updated == ["bird"]
    assert not Proverb.objects.get().is_retired
    assert found("early") == ["bird"]


def test_what_a_person_edited_outlives_its_file(files: Files) -> None:
    files.load(bird="The early bird")
    edit("bird", "My bird")
    loaded = files.load()

    assert loaded.retired == []
    assert not Proverb.objects.get().is_retired
    assert Proverb.objects.get().shipped is None


def test_what_people_added_is_theirs(files: Files) -> None:
    Proverb.objects.create(key="bird", text="My bird")
    Proverb.objects.create(key="cat", text="My cat")
    loaded = files.load(bird="The early bird")

    assert (loaded.kept_out, loaded.offered, loaded.retired) == (["bird"], [], [])
    assert "1 not loaded because records written here" in str(loaded)
    assert shipped.take_offered(files.library, Proverb.objects.all()) == []
    assert (said("bird"), said("cat")) == ("My bird", "My cat")


def test_other_fields_belong_to_people(files: Files) -> None:
    files.load(bird="The early bird")
    Proverb.objects.update(is_shown=False)
    loaded = files.load(bird="The late worm")

    assert loaded.updated == ["bird"]
    assert not Proverb.objects.get().is_shown


def test_values_that_json_has_no_type_for_are_no_edits(files: Files) -> None:
    files.texts = {"bird": {"text": "Early", "said_on": "2026-01-31"}}
    shipped.load(files.library)
    loaded = shipped.load(files.library)

    assert loaded == Loaded()
    assert not Proverb.objects.get().is_edited


def test_fields_that_came_or_went_with_an_upgrade_are_no_edits(files: Files) -> None:
    files.texts = {"bird": {"text": "Early", "mood": "glad"}}
    shipped.load(files.library)
    files.texts = {"bird": {"text": "Early", "said_on": "2026-01-31"}}
    loaded = shipped.load(files.library)

    assert loaded.updated == ["bird"]


def test_while_a_file_is_faulty_nothing_is_retired(files: Files) -> None:
    files.load(bird="The early bird", cook="Too many cooks")
    files.complaints = [Complaint("bird.yaml", 3, "text is required")]
    loaded = files.load(cook="Fewer cooks")

    assert loaded.complaints == files.complaints
    assert (loaded.updated, loaded.retired) == (["cook"], [])


def test_files_that_did_not_change_are_not_read_again(files: Files) -> None:
    (files.folder / "bird.yaml").write_text("text: The early bird")
    files.texts = {"bird": {"text": "The early bird"}}
    assert shipped.load_changed(files.library).added == ["bird"]
    files.texts = {"bird": {"text": "The late worm"}}
    assert shipped.load_changed(files.library) == Loaded()

    (files.folder / "bird.yaml").write_text("text: The late worm")
    assert shipped.load_changed(files.library).updated == ["bird"]
    Proverb.objects.all().delete()
    assert shipped.load_changed(files.library).added == ["bird"]


def test_files_with_a_mistake_are_read_again(files: Files) -> None:
    files.complaints = [Complaint("bird.yaml", 3, "text is required")]
    assert shipped.load_changed(files.library).complaints
    assert shipped.load_changed(files.library).complaints


def test_processes_that_start_at_once_load_one_after_the_other(files: Files) -> None:
    files.texts = {str(number): {"text": f"Proverb {number}"} for number in range(50)}

    def load(_: int) -> Loaded:
        try:
            return shipped.load(files.library)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(load, range(4)))

    assert sorted(len(one.added) for one in loaded) == [0, 0, 0, 50]
    assert Proverb.objects.count() == 50


def test_clients_are_told_what_was_updated_or_retired(files: Files) -> None:
    files.load(dog="barks", cat="meows", cow="moos")
    files.load(dog="bites", cat="meows")
    files.load(dog="bites", cat="meows")

    assert files.announced == [[], ["dog", "cow"]]
