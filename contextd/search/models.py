"""The search index: passages of records, their words, and the vectors of their meaning.

Passages and all counts of a collection change only under a lock on its `Collection` row, so the
counts stay exact and writers cannot deadlock over single words.
"""

from typing import Any

from django.db import models
from django.db.models import Deferrable
from pgvector.django import HalfVectorField, SparseVectorField

from contextd.models import Project

TERM_SPACE = 1_000_000_000
"""Number of hash values of words, the maximum that a `sparsevec` can distinguish."""


class RealField(models.FloatField[Any, Any]):
    """A four-byte float."""

    def db_type(self, connection: Any) -> str:
        return "real"


class Collection(models.Model):
    """The passages of one domain in one project; without a project they are shared knowledge."""

    id = models.AutoField(primary_key=True)
    domain = models.CharField(max_length=32)
    project = models.ForeignKey(Project, models.CASCADE, null=True, related_name="+")
    passages = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "project"], nulls_distinct=False, name="search_one_collection"
            )
        ]

    def __str__(self) -> str:
        return f"{self.domain} of {self.project or 'everybody'}"


class Passage(models.Model):
    """A piece of a record that is small enough to embed; never changed, only replaced."""

    id = models.AutoField(primary_key=True)  # four bytes, since every posting repeats it
    collection = models.ForeignKey(Collection, models.CASCADE, db_index=False, related_name="+")
    record_id = models.BigIntegerField()
    ordinal = models.PositiveIntegerField()
    headline = models.TextField(blank=True)
    text = models.TextField()
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=32)
    words = SparseVectorField(dimensions=TERM_SPACE)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "record_id", "ordinal"],
                deferrable=Deferrable.DEFERRED,
                name="search_passage_place",
            )
        ]
        indexes = [models.Index(fields=["record_id"], name="search_passage_record")]

    def __str__(self) -> str:
        return f"{self.record_id}:{self.first_line}-{self.last_line}"


class Posting(models.Model):
    """A word in a passage, with its saturated BM25 weight.

    No constraint and no index but the key, which includes the weight: there are a hundred postings
    per passage, and they are only read by word.
    """

    pk = models.CompositePrimaryKey("term", "collection", "passage")
    term = models.IntegerField()
    collection = models.ForeignKey(
        Collection, models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    passage = models.ForeignKey(
        Passage, models.DO_NOTHING, db_index=False, db_constraint=False, related_name="+"
    )
    weight = RealField()

    def __str__(self) -> str:
        return f"{self.term} in {self.passage_id}"


class TermCount(models.Model):
    """The number of passages of a collection that contain a word."""

    pk = models.CompositePrimaryKey("term", "collection")
    term = models.IntegerField()
    collection = models.ForeignKey(
        Collection, models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    passages = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.term}: {self.passages}"


class Space(models.Model):
    """Vectors of one model and size; vectors of different spaces are never compared."""

    name = models.CharField(max_length=250, primary_key=True, help_text="model:dimensions")
    dimensions = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    leased_until = models.DateTimeField(
        null=True, help_text="Until then one worker embeds what is pending"
    )

    def __str__(self) -> str:
        return self.name


class Embedding(models.Model):
    """The vector of a passage in a space; it repeats the columns of the passage used in filters."""

    pk = models.CompositePrimaryKey("passage", "space")
    passage = models.ForeignKey(Passage, models.DO_NOTHING, db_index=False, related_name="+")
    space = models.ForeignKey(Space, models.CASCADE, db_index=False, related_name="+")
    collection = models.ForeignKey(
        Collection, models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    record_id = models.BigIntegerField()
    vector = HalfVectorField()

    class Meta:
        indexes = [
            # Includes the record: with an index on the record alone, Postgres reads vectors of all
            # domains.
            models.Index(fields=["collection", "space", "record_id"], name="search_vector_place"),
        ]

    def __str__(self) -> str:
        return f"{self.passage_id} in {self.space_id}"


class Coverage(models.Model):
    """The number of passages of a collection that have a vector in a space."""

    pk = models.CompositePrimaryKey("collection", "space")
    collection = models.ForeignKey(Collection, models.CASCADE, db_index=False, related_name="+")
    space = models.ForeignKey(Space, models.CASCADE, related_name="+")
    passages = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "coverage"

    def __str__(self) -> str:
        return f"{self.collection_id} in {self.space_id}: {self.passages}"
