"""Resources that can be read by address, such as `checkpoint://7`: apps' `resources.py`."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Annotated, Any, Protocol, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import Field

from contextd.callers import Caller, matches
from contextd.conversations import Conversation
from contextd.errors import NotAllowed, NotFound
from contextd.operations import Operation, Request, Result, reader
from contextd.validation import Text, ensure_storable

MAX_ADDRESS_LENGTH = 2000
PAGE_SIZE = 50
_VARIABLE = re.compile(r"\{(\+?\w+)\}")
_QUERY = re.compile(r"\{\?[\w,]+\}$")
_QUERY_OF_GLOB = re.compile(r"\?(?=\w+=|\*$)")
"""Begins a query in a glob, such as `?tag=*`; elsewhere in it, `?` stands for any character."""
_EXPRESSION = re.compile(r"\{[+?]?([\w,]+)\}")


class ReadResource(Request):
    """Read a resource by its address."""

    uri: Annotated[Text, Field(max_length=MAX_ADDRESS_LENGTH, description="The address")]


class ListResources(Request):
    """List resources that can be read."""

    offset: Annotated[int, Field(ge=0, description="Number of resources to skip")] = 0


class Contents(Result):
    """The text of a resource, or `blob` for binary contents."""

    uri: str
    mime_type: str
    text: str = ""
    blob: bytes | None = None


class RelayedContents(Result):
    """The contents that another MCP server has at an address, in MCP's own format."""

    contents: list[dict[str, Any]]


class Listed(Result):
    uri: str
    title: str
    description: str | None = None
    name: str | None = None
    mime_type: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class File:
    """What a resource can return instead of text."""

    content: bytes
    mime_type: str


class Listing(Result):
    resources: list[Listed]
    next_offset: int | None = None
    """Offset of the rest, if there is more."""


class Lister(Protocol):
    """Lists some of the addresses, the most important first."""

    def __call__(self, caller: Caller, *, offset: int, limit: int) -> list[Listed]: ...


Query = Mapping[str, str]
R = TypeVar("R", bound=Callable[..., str | File])


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A form of address, how to read it, and which of its addresses to list."""

    template: str
    title: str
    description: str
    mime_type: str
    pattern: re.Pattern[str]
    reading: Operation
    listing: Operation | None
    relayed: "RemoteResources | None" = None

    @property
    def is_single(self) -> bool:
        """Whether the template is an address itself."""
        return "{" not in self.template


@dataclass(frozen=True, slots=True)
class RemoteResources:
    """The special parts of other servers' resources, which come and go."""

    name_of: Callable[[str], str]
    """Returns the name of the operation that reads an address."""
    templates: Callable[[Caller], list[Listed]]
    """Returns the servers' own templates, which replace the template of the resource."""


_registry: dict[str, Resource] = {}


def resource(
    template: str,
    *,
    title: str,
    mime_type: str = "text/plain",
    timeout: float = 5,
    listed: Lister | None = None,
) -> Callable[[R], R]:
    """Register the decorated function, which returns the text or the file at an address.

    It receives the caller, the query and the variables of the template by name: `{name}` is a part
    between slashes, `{+path}` all that is left. `listed` lists addresses.
    """

    def register(read: R) -> R:
        if template in _registry:
            raise RuntimeError(f"the resource {template!r} is declared twice")
        pattern = pattern_of(template)

        @wraps(read)
        def handler(caller: Caller, request: ReadResource) -> Contents:
            check(caller, forms(template), request.uri)
            query, variables = parts_of(request.uri, pattern)
            ensure_storable({**variables, **query})
            return contents_of(read(caller, query, **variables), request.uri, mime_type)

        _registry[template] = Resource(
            template=template,
            title=title,
            description=(read.__doc__ or "").strip(),
            mime_type=mime_type,
            pattern=pattern,
            reading=reader("resource", template, handler, ReadResource, Contents, timeout),
            listing=_listing_of_contained(template, listed, timeout) if listed else None,
        )
        return read

    return register


def relay(
    template: str,
    *,
    title: str,
    read: Callable[[Caller, ReadResource, Conversation], Awaitable[RelayedContents]],
    name_of: Callable[[str], str],
    listed: Lister,
    is_readable: Callable[[Caller, str], bool],
    templates: Callable[[Caller], list[Listed]],
    timeout: float,
) -> None:
    """Register addresses that other servers answer for.

    `read` checks the caller's permissions; `is_readable` says which of the listed it would pass.
    """
    _registry[template] = Resource(
        template=template,
        title=title,
        description=(read.__doc__ or "").strip(),
        mime_type="text/plain",
        pattern=pattern_of(template),
        reading=reader("resource", template, read, ReadResource, RelayedContents, timeout),
        listing=listing_of(template, listed, timeout, is_readable),
        relayed=RemoteResources(name_of, templates),
    )


def _listing_of_contained(template: str, listed: Lister, timeout: float) -> Operation:
    def is_contained(caller: Caller, uri: str) -> bool:
        return contains(caller, [template], uri)

    return listing_of(template, listed, timeout, is_contained)


def contents_of(found: str | File, uri: str, mime_type: str) -> Contents:
    """Return the contents of a resource; a file becomes text if possible."""
    if isinstance(found, str):
        return Contents(uri=uri, mime_type=mime_type, text=found)
    try:
        return Contents(uri=uri, mime_type=found.mime_type, text=found.content.decode())
    except UnicodeDecodeError:
        return Contents(uri=uri, mime_type=found.mime_type, blob=found.content)


def check(caller: Caller, templates: Sequence[str], *uris: str) -> None:
    """Raise NotAllowed unless the caller's context contains a template or one of the addresses."""
    if not contains(caller, templates, *uris):
        name = (*templates, *uris)[-1]
        raise NotAllowed(
            f"the context {caller.context!r} does not contain the resource {name}",
            context=caller.context,
        )


def contains(caller: Caller, templates: Sequence[str], *uris: str) -> bool:
    """Return whether the caller's context contains a template or one of the addresses.

    Globs match an address with any query, so that no query can make an address match.
    """
    globs = caller.entry.resources
    return caller.entry.has_resource(*templates) or any(
        _covers(glob, uri) for glob in globs for uri in uris
    )


def _covers(glob: str, uri: str) -> bool:
    address, _, query = uri.partition("?")
    of_address, of_query = split_glob(glob)
    return matches(address, [of_address]) and matches(query, [of_query])


def split_glob(glob: str) -> tuple[str, str]:
    """Return the globs for the address and for its query, which is `*` without one."""
    of_address, *of_query = _QUERY_OF_GLOB.split(glob, maxsplit=1)
    return of_address, "".join(of_query) or "*"


def forms(template: str) -> tuple[str, str]:
    """Return the template with and without its query: a context may contain either."""
    return _QUERY.sub("", template), template


def listing_of(
    template: str, listed: Lister, timeout: float, is_readable: Callable[[Caller, str], bool]
) -> Operation:
    @wraps(listed)
    def handler(caller: Caller, request: ListResources) -> Listing:
        found = listed(caller, offset=request.offset, limit=PAGE_SIZE + 1)
        has_more = len(found) > PAGE_SIZE
        return Listing(
            resources=[one for one in found[:PAGE_SIZE] if is_readable(caller, one.uri)],
            next_offset=request.offset + PAGE_SIZE if has_more else None,
        )

    return reader("resource", template, handler, ListResources, Listing, timeout)


def variables_of(template: str) -> set[str]:
    """Return the names of the variables in the path and the query of the template."""
    return {name for names in _EXPRESSION.findall(template) for name in names.split(",")}


def pattern_of(template: str) -> re.Pattern[str]:
    """Return the pattern of addresses of that template, without their query."""
    literal_and_names = _VARIABLE.split(_QUERY.sub("", template))
    parts = [
        _part(part) if number % 2 else re.escape(part)
        for number, part in enumerate(literal_and_names)
    ]
    return re.compile("".join(parts))


def _part(name: str) -> str:
    return f"(?P<{name[1:]}>[^?#]+)" if name.startswith("+") else f"(?P<{name}>[^/?#]+)"


def parts_of(uri: str, pattern: re.Pattern[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the query, and the variables in the path."""
    address, _, query = uri.partition("?")
    matched = pattern.fullmatch(address)
    variables = matched.groupdict() if matched else {}
    return dict(parse_qsl(query)), {name: unquote(value) for name, value in variables.items()}


def installed() -> list[Resource]:
    """Return the resources, the most specific first."""
    return sorted(_registry.values(), key=lambda one: (one.template.count("{"), one.template))


def templates(caller: Caller) -> list[Listed]:
    """Return the templates of other servers that the caller's context contains."""
    found = [(one.template, form) for one in installed() for form in forms_of(one, caller)]
    return [form for template, form in found if contains(caller, [template], form.uri)]


def forms_of(resource: Resource, caller: Caller) -> list[Listed]:
    return resource.relayed.templates(caller) if resource.relayed else []


def at(uri: str) -> Resource:
    """Return the kind of resource that an address belongs to. Raise NotFound."""
    address = uri.partition("?")[0]
    for one in installed():
        if one.pattern.fullmatch(address):
            named = one.relayed and replace(one.reading, name=one.relayed.name_of(uri))
            return replace(one, reading=named) if named else one
    schemes = sorted({urlsplit(one.template).scheme for one in installed()})
    known = ", ".join(f"{scheme}://" for scheme in schemes)
    raise NotFound(f"there is no resource at {uri[:MAX_ADDRESS_LENGTH]!r}; available are {known}")
