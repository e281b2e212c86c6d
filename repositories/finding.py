"""Finding code: what the query names exactly first, then what fits by words and meaning."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TypeVar

from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from contextd import projects, search
from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.models import Project
from repositories import asking, passages, roots, rules
from repositories.asking import Named
from repositories.languages import KNOWN
from repositories.models import Repository, SourceFile

SHARES = (1.0, 0.1, 0.05)
"""How much the best passages of a file count: of files that fit as well, that with several is
first, and none is before one that fits better. docs/retrieval.md has what other shares gave.
"""

Found = TypeVar("Found")

PASSAGES_FOR_EACH = 10
MOST_PASSAGES = 300
MOST_EXACT = 20
"""What is defined in more files than that does not tell where to look."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look; `files` is None where no file is left out."""

    projects: frozenset[int] | None
    files: QuerySet[SourceFile] | None

    @property
    def candidates(self) -> QuerySet[SourceFile]:
        files = SourceFile.objects.all() if self.files is None else self.files
        if self.projects is None:
            return files
        return files.filter(repository__project__in=self.projects)


@dataclass(frozen=True, slots=True)
class Match:
    """A file with its best passages; `exact` when the query names it, or what it defines."""

    file: SourceFile
    score: float
    exact: bool
    hits: Sequence[search.Hit]


@dataclass(frozen=True, slots=True)
class Matches:
    matches: list[Match]
    notice: str | None
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Graded:
    """A file by its key, with its passages, the best first."""

    key: int
    score: float
    exact: bool
    hits: Sequence[search.Hit]


def scope_of(
    caller: Caller,
    *,
    project_path: str | None = None,
    git_remote: str | None = None,
    paths: Sequence[str] = (),
    languages: Sequence[str] = (),
) -> Scope | None:
    """None where no project is known. A path within a repository means that repository alone."""
    within = caller.projects
    files = SourceFile.objects.matching(expressions_of(paths))
    is_narrowed = bool(paths or languages)
    if languages:
        files = files.filter(language__in=known_languages(languages))
    if project_path or git_remote:
        project = projects.find(caller, project_path, git_remote)
        if project is None:
            return None
        within = frozenset([project.pk])
        if project_path and (repository := _holding(project, project_path)):
            files, is_narrowed = files.filter(repository=repository), True
    return Scope(within, files if is_narrowed else None)


def expressions_of(globs: Sequence[str]) -> list[str]:
    """As the database reads them. Raises Invalid."""
    try:
        found = [p.regex.pattern for p in rules.patterns(globs).patterns if p.regex is not None]
    except ValueError as error:
        raise Invalid(
            f"paths holds a pattern that git would not read: {error}", field="paths"
        ) from None
    return [expression.replace("?P<ps_d>", "?:") for expression in found]


def known_languages(names: Sequence[str]) -> Sequence[str]:
    """Raises Invalid where there is no such language."""
    if unknown := sorted(set(names) - set(KNOWN)):
        raise Invalid(
            f"languages holds {', '.join(unknown)}; there are: {', '.join(KNOWN)}",
            field="languages",
        )
    return names


def _holding(project: Project, path: str) -> Repository | None:
    above = [path, *map(str, PurePosixPath(path).parents)]
    holding = Repository.objects.filter(project=project, path__in=above)
    return max(holding, key=lambda repository: len(repository.path), default=None)


def find(query: str, scope: Scope, limit: int) -> Matches:
    """At most one match for each file; what the query names exactly goes first."""
    found = search.find_passages(
        query,
        domain=passages.DOMAIN,
        projects=scope.projects,
        records=scope.files,
        limit=min(PASSAGES_FOR_EACH * limit, MOST_PASSAGES),
    )
    exact = exactly(asking.named_in(query), scope)
    named = {graded.key for graded in exact}
    others = (graded for graded in grade(found.hits) if graded.key not in named)
    graded = {one.key: one for one in [*exact, *others]}
    matches = [
        Match(file, one.score, one.exact, one.hits) for file, one in islice(present(graded), limit)
    ]
    return Matches(matches, found.notice, found.pending)


def exactly(named: Named, scope: Scope) -> list[Graded]:
    """Files that have one of the paths, or define one of the identifiers."""
    if not named.text:
        return []
    keys = list(_named(named, scope).values_list("pk", flat=True)[: MOST_EXACT + 1])
    if not keys or (len(keys) > MOST_EXACT and not named.alone):
        return []
    found = search.find_passages(
        named.text,
        domain=passages.DOMAIN,
        projects=scope.projects,
        records=SourceFile.objects.filter(pk__in=keys),
        limit=MOST_PASSAGES,
    )
    defining = [hit for hit in found.hits if defines(hit, named.identifiers)]
    known = {hit.record_id for hit in defining}
    elsewhere = [hit for hit in found.hits if hit.record_id not in known]
    return grade(defining, exact=True) + grade(elsewhere, exact=True)


def _named(named: Named, scope: Scope) -> QuerySet[SourceFile]:
    condition = Q(symbols__overlap=named.identifiers) if named.identifiers else Q()
    for path in named.paths:
        relative = path.removeprefix("./").lstrip("/")
        condition |= Q(path=relative) | Q(path__endswith=f"/{relative}")
        if path.startswith("/"):
            condition |= Q(place=path)
    place = Concat("repository__path", Value("/"), "path", output_field=TextField())
    return scope.candidates.alias(place=place).filter(condition).order_by("path")


def defines(hit: search.Hit, identifiers: Sequence[str]) -> bool:
    known = passages.known_as(passages.symbols_in(hit.headline))
    return any(identifier in known for identifier in identifiers)


def grade(hits: Iterable[search.Hit], *, exact: bool = False) -> list[Graded]:
    """Files by what their best passages score together, the best first."""
    by_file: dict[int, list[search.Hit]] = {}
    for hit in hits:
        by_file.setdefault(hit.record_id, []).append(hit)
    graded = [Graded(key, score_of(own), exact, own[: len(SHARES)]) for key, own in by_file.items()]
    return sorted(graded, key=lambda one: -one.score)


def score_of(hits: Sequence[search.Hit]) -> float:
    together = sum(share * hit.score for share, hit in zip(SHARES, hits, strict=False))
    return together / sum(SHARES)


def present(found: Mapping[int, Found]) -> Iterator[tuple[SourceFile, Found]]:
    """By key, in their order, each file once, without those that have been deleted since."""
    files = SourceFile.objects.select_related("repository__project").defer("symbols")
    known = files.in_bulk(list(found))
    is_readable, lies_elsewhere = cache(roots.is_readable), cache(roots.may_lie_elsewhere)
    seen: set[Path] = set()
    for key, one in found.items():
        if file := known.get(key):
            root = Path(file.repository.path)
            place = root / file.path
            is_there = place.is_file() if is_readable(root) else lies_elsewhere(root)
            if is_there and place not in seen:
                seen.add(place)
                yield file, one
