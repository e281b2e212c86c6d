"""Read and write a SKILL.md, and change parts of one without touching the rest."""

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from contextd import validation
from contextd.errors import Invalid
from skills import arguments, front_matter, versions
from skills.front_matter import Unreadable
from skills.wording import CONTENT_LENGTH, FIELDS_IN_METADATA, SLUG_LENGTH, Wording, is_slug

NAME = "SKILL.md"
MAX_BYTES = 1_500_000
"""Maximum size: more than all fields need at full length with every character escaped."""
FEW_BYTES = 8
DESCRIPTION_LENGTH = 1024
COMPATIBILITY_LENGTH = 500
READ_ABOVE = {"title", "version", "author", "category", "tags"}
"""Keys that are also read at the top level, where authors write them."""
KEY_LENGTH, VALUE_LENGTH, MAX_KEYS = 50, 500, 100

_PARTS = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<front>.*?\n)?---[ \t]*(\r?\n|\Z)(\r?\n)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed SKILL.md; `content` is the text below the front matter."""

    front_matter: dict[str, Any]
    content: str


def begins(raw: bytes) -> bool:
    """Return whether the first bytes may be those of a SKILL.md."""
    return raw.startswith((b"---", b"\xef\xbb\xbf---"))


def read(raw: bytes) -> Document:
    """Parse a SKILL.md. Raises Invalid with the problem."""
    parts = _parts_of(raw)
    try:
        loaded = front_matter.load(parts["front"] or "")
    except Unreadable as error:
        raise _wrong(f"has front matter that cannot be read: {error}") from None
    return Document(loaded, parts.string[parts.end() :])


def _parts_of(raw: bytes) -> re.Match[str]:
    """Return the match of what stands above the content."""
    if len(raw) > MAX_BYTES:
        raise _wrong(f"has {len(raw):,} bytes, at most {MAX_BYTES:,} are read")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise _wrong("is not UTF-8") from None
    parts = _PARTS.match(text)
    if parts is None:
        raise _wrong("must begin with front matter: a line ---, name and description, a line ---")
    return parts


def write(wording: Wording) -> bytes:
    """Write a new SKILL.md."""
    front = front_matter.dump(_as_front_matter(wording))
    return _joined(_between_lines(front), wording.content)


def rewritten(raw: bytes, wording: Wording) -> bytes:
    """Apply the changes of the wording to a document; return it as is without any.

    The version is updated only if the document has one. Values that stay the same, and line ends,
    are written as in the document.
    """
    document, parts = read(raw), _parts_of(raw)
    with_ends = _with_windows_ends if _has_windows_ends(parts[0]) else str
    front = _changed_front_matter(document, wording)
    has_same_front = front == document.front_matter
    has_same_content = with_ends(document.content).strip() == with_ends(wording.content).strip()
    if has_same_front and has_same_content:
        return raw
    head = parts[0]
    if not has_same_front:
        head = with_ends(_between_lines(front_matter.updated(parts["front"], front)))
    return _joined(head, document.content if has_same_content else with_ends(wording.content))


def _changed_front_matter(document: Document, wording: Wording) -> dict[str, Any]:
    current = wording_of(document)
    before, after = _as_front_matter(current), _as_front_matter(wording)
    front = deepcopy(document.front_matter)
    front |= {key: after[key] for key in ("name", "description") if after[key] != before[key]}
    former, latter = before["metadata"], after["metadata"]
    is_new = {
        "title": current.name != wording.name,
        "description": current.description != wording.description,
    }
    hiding = [key for key in is_new if is_new[key]]  # if left, they would hide the new value
    keys = dict.fromkeys([*former, *hiding, *latter])
    changed = [key for key in keys if key in hiding or former.get(key) != latter.get(key)]
    _change_metadata(front, changed, latter)
    return front


def wording_of(document: Document) -> Wording:
    """Return the wording. Raises Invalid if a field is missing or too long."""
    front = document.front_matter
    metadata = _mapping(front.get("metadata"))
    told = {**front, **metadata}
    fields = {
        "name": told.get("title") or front.get("name"),
        "slug": front.get("name"),
        "description": metadata.get("description") or front.get("description"),
        "content": _uncounted_end(document.content),
        "version": versions.read(told.get("version", "")) or versions.FIRST,
        "author": _text(told.get("author")) or "unknown",
        "category": _text(told.get("category")) or "general",
        "prerequisites": _lines(metadata.get("prerequisites")),
        "expected_outcome": _text(metadata.get("expected-outcome")),
        "tags": list(dict.fromkeys(_labels(told.get("tags")))),
        "metadata": _own(metadata),
    }
    try:
        return Wording.model_validate(fields)
    except ValidationError as error:
        problems = validation.problems(error, NAME, list(Wording.model_fields))
        raise _wrong("; ".join(problem["error"] for problem in problems)) from None


def problems_of(document: Document, folder: str | None) -> list[str]:
    """Return the violations of the Agent Skills format, each with its remedy."""
    front = document.front_matter
    name, description = front.get("name"), front.get("description")
    found = []
    if not isinstance(name, str) or not is_slug(name):
        found.append(
            f"name {name!r} must be lower-case letters, digits and single hyphens, "
            f"at most {SLUG_LENGTH}"
        )
    elif folder is not None and folder != name:
        found.append(f"name {name!r} must be that of its folder, {folder!r}")
    if not isinstance(description, str) or not description.strip():
        found.append("description is required: what the skill does and when to use it")
    elif len(description) > DESCRIPTION_LENGTH:
        found.append(f"description has {len(description)} characters, at most {DESCRIPTION_LENGTH}")
    if len(_text(front.get("compatibility"))) > COMPATIBILITY_LENGTH:
        found.append(f"compatibility has more than {COMPATIBILITY_LENGTH} characters")
    if not isinstance(front.get("metadata", {}), dict):
        found.append("metadata must be a map of text to text")
    found += arguments.problems_of(front)
    if not document.content.strip():
        found.append("it has no instructions below its front matter")
    return found


def _wrong(what: str) -> Invalid:
    return Invalid(f"{NAME} {what}", field=NAME)


def _between_lines(front: str) -> str:
    return f"---\n{front}---\n\n"


def _joined(head: str, content: str) -> bytes:
    line_end = "\r\n" if _has_windows_ends(head) else "\n"
    end = "" if content.endswith("\n") else line_end
    return f"{head}{content}{end}".encode()


def _has_windows_ends(head: str) -> bool:
    return head.partition("\n")[0].endswith("\r")


def _with_windows_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _as_front_matter(wording: Wording) -> dict[str, Any]:
    """Return the format's own fields, with all others as text in `metadata`."""
    short = shortened(wording.description)
    more = {
        "title": wording.name if wording.name != wording.slug else "",
        "description": wording.description if short != wording.description else "",
        "version": wording.version,
        "author": wording.author,
        "category": wording.category,
        "tags": ", ".join(wording.tags),
        "prerequisites": "\n".join(wording.prerequisites),
        "expected-outcome": wording.expected_outcome,
    }
    metadata = {**wording.metadata, **{key: text for key, text in more.items() if text}}
    return {"name": wording.slug, "description": short, "metadata": metadata}


def _change_metadata(
    front: dict[str, Any], changed: Iterable[str], after: Mapping[str, str]
) -> None:
    """Change the keys in `metadata`, or at the top level if the author wrote them there."""
    metadata = _mapping(front.get("metadata"))
    for key in changed:
        above = key in READ_ABOVE and key in front and key not in metadata
        if key == "version" and not above and key not in metadata:
            continue
        if key in after:
            (front if above else metadata)[key] = after[key]
            continue
        metadata.pop(key, None)
        if key in READ_ABOVE:
            front.pop(key, None)
    if metadata:
        front["metadata"] = metadata
    elif front.get("metadata"):
        del front["metadata"]


def shortened(description: str) -> str:
    """Cut the description to the format's limit, as lists of skills show it."""
    if len(description) <= DESCRIPTION_LENGTH:
        return description
    words = description[: DESCRIPTION_LENGTH - 2].rsplit(None, 1)
    return " ".join([*words[:1], "…"])


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else validation.as_text(value)


def _lines(value: Any) -> list[str]:
    lines = value if isinstance(value, list) else _text(value).splitlines()
    return [text for line in lines if (text := _text(line).strip())]


def _uncounted_end(content: str) -> str:
    """Drop the file's final line ending, which does not count toward the length limit."""
    return content.removesuffix("\n") if len(content) > CONTENT_LENGTH else content


def _labels(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else re.split(r"[,\n]", _text(value))
    return [text for part in parts if (text := _text(part).strip())]


def _own(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the author's own keys; values over the limits stay in the file only."""
    texts = {key: _text(value) for key, value in metadata.items() if key not in FIELDS_IN_METADATA}
    short = {
        key: text
        for key, text in texts.items()
        if len(key) <= KEY_LENGTH and len(text) <= VALUE_LENGTH
    }
    return dict(list(short.items())[:MAX_KEYS])
