"""The fields of a skill with their limits, and its slug for files and addresses."""

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Self
from unicodedata import combining, normalize

from django.utils.text import slugify
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from contextd import validation
from contextd.errors import Invalid
from contextd.validation import Facts, Filled, Text
from skills import versions

SLUG_LENGTH = 64
CONTENT_LENGTH = 50_000
NOTE_LENGTH = 500
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FIELDS_IN_METADATA = {
    "title": "name",
    "description": "description",
    "version": "version",
    "author": "author",
    "category": "category",
    "tags": "tags",
    "prerequisites": "prerequisites",
    "expected-outcome": "expected_outcome",
}
"""Keys of fields within the `metadata` of a SKILL.md."""


def _one_label(text: str) -> str:
    if re.search(r"[,\n\r]", text):
        raise PydanticCustomError("label", "must be one label, without a comma or a line break")
    return text.strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _version(text: str) -> str:
    if not versions.is_valid(text):
        raise PydanticCustomError("semver", "must be a semantic version, such as 1.4.0")
    return text


def _no_field(metadata: dict[str, str]) -> dict[str, str]:
    for key, field in FIELDS_IN_METADATA.items():
        if key in metadata:
            raise PydanticCustomError(
                "own_key",
                "must not contain the key {key}, the field {field} in files: set that instead",
                {"key": repr(key), "field": field},
            )
    return metadata


Name = Annotated[
    Filled,
    AfterValidator(_one_line),
    Field(max_length=200, description="The name, such as: Review a migration"),
]
Description = Annotated[
    Filled,
    Field(max_length=2000, description="What it does and when to use it; searches match this"),
]
Content = Annotated[
    Filled,
    Field(max_length=CONTENT_LENGTH, description="The instructions, in Markdown"),
]
Version = Annotated[
    Filled,
    AfterValidator(_version),
    Field(max_length=versions.LENGTH, description="Semantic version, such as 1.0.0"),
]
Author = Annotated[Filled, Field(max_length=200, description="Who wrote it")]
Category = Annotated[
    Filled,
    AfterValidator(str.strip),
    AfterValidator(str.lower),
    Field(max_length=50, description="Such as debugging, deployment, analysis, testing, security"),
]
Prerequisite = Annotated[Filled, AfterValidator(_one_line), Field(max_length=200)]
Prerequisites = Annotated[
    list[Prerequisite],
    Field(max_length=100, description="What it requires, up to 100 of 200 characters"),
]
Outcome = Annotated[
    Text, Field(max_length=1000, description="What is true once it has been followed")
]
Tag = Annotated[Filled, AfterValidator(_one_label), Field(max_length=50)]
Tags = Annotated[list[Tag], Field(max_length=20, description="Labels, up to 20 of 50 characters")]
_TAGS: TypeAdapter[list[str]] = TypeAdapter(Tags)
Metadata = Annotated[
    Facts,
    AfterValidator(_no_field),
    Field(
        description="Key-value facts; `arguments` lists those of its prompt. "
        "At most 100 facts, keys of 50 and values of 500 characters"
    ),
]


class Wording(BaseModel):
    """The wording of a version; `slug` is its name in the Agent Skills format."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    name: Name
    slug: Annotated[Text, Field(max_length=SLUG_LENGTH)]
    description: Description
    content: Content
    version: Version
    author: Author
    category: Category
    prerequisites: Prerequisites
    expected_outcome: Outcome
    tags: Tags
    metadata: Metadata

    @classmethod
    def of(cls, row: Any) -> "Wording":
        """Return the wording of a stored skill or version."""
        return cls.model_construct(**{field: getattr(row, field) for field in cls.model_fields})

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with valid changes; a new name also changes the slug."""
        renamed = {"slug": slug_of(changes["name"])} if "name" in changes else {}
        if changes.get("name") == self.name:
            renamed = {}
        return self.model_copy(update={**changes, **renamed})

    def found_by(self) -> tuple[str, str]:
        """Return the headline and body to index."""
        return self.name, f"{self.description}\n\n{self.content}"


def checked_tags(tags: list[str]) -> list[str]:
    """Return the validated tags. Raises Invalid."""
    try:
        return list(dict.fromkeys(_TAGS.validate_python(tags)))
    except ValidationError as error:
        problems = validation.problems(error, "tags", [])
        raise Invalid(f"the tag {problems[0]['error'].partition(' ')[2]}", field="tags") from None


def slug_of(name: str) -> str:
    """Return lower-case letters, digits and single hyphens, at most 64, unique per name.

    Names that differ only in case, accents, spaces, hyphens and underscores are one name.
    """
    slug = re.sub("-+", "-", slugify(name).replace("_", "-")).strip("-")
    if slug and len(slug) <= SLUG_LENGTH and _is_whole_in_slug(name):
        return slug
    digest = hashlib.sha256(_WHITE.sub("-", name.casefold()).encode()).hexdigest()[:8]
    return f"{slug[: SLUG_LENGTH - 9].rstrip('-') or 'skill'}-{digest}"


_WHITE = re.compile(r"[\s_-]+")


def _is_whole_in_slug(name: str) -> bool:
    """Return whether the slug keeps the whole name; otherwise `C` and `C++` would be one."""
    plain = "".join(one for one in normalize("NFD", name) if not combining(one))
    return _WHITE.sub("", plain).isalnum() and plain.isascii()


def is_slug(text: str) -> bool:
    return len(text) <= SLUG_LENGTH and SLUG.fullmatch(text) is not None
