"""Find code: exact names in the query first, then matches by words and meaning."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from django.db.models import Case, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Concat
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from contextd import projects, search
from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.models import Project
from repositories import asking, names, passages, roots, rules
from repositories.asking import Named
from repositories.languages import KNOWN
from repositories.models import Repository, SourceFile

SHARES = (1.0, 0.1, 0.05)
"""Weights of a file's best passages, so that among equal files the one with more good passages
comes first. docs/adr/0007-one-ranking-for-all-searches.md compares other weights.
"""

Found = TypeVar("Found")

PASSAGES_PER_FILE = 10
MAX_PASSAGES = 300
MAX_DEPTH_PASSAGES = 3000
"""Maximum passages read if fewer give too few files, since some are copies or deleted."""

MAX_EXACT = 20
"""Maximum files that define a name; a more common name does not help to locate anything."""

MAX_EXACT_COPIES = 200
NOTHING_INDEXED = (
    "There are no indexed files to search: index_repository indexes a folder; paths, languages "
    "and project_path limit the search."
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a search; `files` is None if no file is excluded."""

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
    """A file with its best passages; `exact` if the query names it or one of its definitions."""

    file: SourceFile
    score: float
    exact: bool
    hits: Sequence[search.Hit]


@dataclass(frozen=True, slots=True)
class Matches:
    matches: list[Match]
    notice: str | None
    pending: int = 0

    @property
    def answers(self) -> list[int]:
        """Return the files more similar to the query than unrelated text is."""
        return [one.file.pk for one in self.matches if one.score >= search.NOISE]


@dataclass(frozen=True, slots=True)
class Graded:
    """A file by its key, with its passages, best first."""

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
    """Return None if no project is known. A path in a repository limits to that repository."""
    files = SourceFile.objects.matching(conditions_of(paths))
    if languages:
        files = files.filter(language__in=known_languages(languages))
    if (place := _place(caller, project_path, git_remote)) is None:
        return None
    within, repository = place
    if repository:
        files = files.filter(repository=repository)
    scope = files_of(indexed_in(within), within)
    if not (paths or languages or repository):
        return scope
    return Scope(within, files & scope.candidates)


def _place(
    caller: Caller, path: str | None, git_remote: str | None
) -> tuple[frozenset[int] | None, Repository | None] | None:
    """Return the projects to search, and the repository that limits it; None if none is known."""
    if not (path or git_remote):
        return caller.projects, None
    repository = holding(caller, path) if path else None
    project = project_at(caller, path, git_remote)
    if repository and (project is None or _is_searched_for(repository, project)):
        return frozenset([repository.project_id]), repository
    return (frozenset([project.pk]), None) if project else None


def _is_searched_for(repository: Repository, project: Project) -> bool:
    """Return whether the repository around a path is searched; a project's own come first."""
    return repository.project_id == project.pk or not project.repositories.exists()


def files_of(repositories: Sequence[Repository], within: frozenset[int] | None) -> Scope:
    """Limit a search to these repositories, all that `within` has, except deleted folders."""
    gone = [repository.pk for repository in repositories if is_gone(repository)]
    return Scope(within, SourceFile.objects.exclude(repository__in=gone) if gone else None)


def indexed_in(within: frozenset[int] | None) -> list[Repository]:
    """Return the repositories of these projects, or all with None; only their paths are read."""
    indexed = Repository.objects.only("path")
    return list(indexed if within is None else indexed.filter(project__in=within))


def project_at(caller: Caller, path: str | None, git_remote: str | None) -> Project | None:
    """Return the project of a folder, by its path as written or with links resolved."""
    found = (
        projects.find(caller, spelling, git_remote)
        for spelling in (spellings(caller, path) if path else [None])
    )
    return next((project for project in found if project), None)


def spellings(caller: Caller, path: str) -> list[str]:
    """Return the path as written and, for callers on this machine, with links resolved."""
    return (
        list(dict.fromkeys([path, os.path.realpath(path)]))
        if caller.is_from_this_machine
        else [path]
    )


def holding(caller: Caller, path: str) -> Repository | None:
    """Return the innermost repository around the path, if the caller may see it."""
    above = {
        str(folder)
        for spelling in spellings(caller, path)
        for folder in (PurePosixPath(spelling), *PurePosixPath(spelling).parents)
    }
    visible = Repository.objects.visible_to(caller).select_related("project")
    return max(
        visible.filter(path__in=above), key=lambda repository: len(repository.path), default=None
    )


def is_gone(repository: Repository) -> bool:
    root = Path(repository.path)
    return not (roots.is_readable(root) or roots.may_lie_elsewhere(root, repository.host))


def conditions_of(globs: Sequence[str]) -> list[tuple[bool, str]]:
    """Return patterns for the database, each with whether it includes files. Raises Invalid."""
    found = []
    for glob in globs:
        if glob.lstrip("!").startswith("./"):
            raise Invalid(f"paths has {glob!r}, which matches nothing: omit ./", field="paths")
        try:
            (pattern,) = rules.patterns([glob]).patterns
        except ValueError as error:
            raise Invalid(f"paths has an invalid pattern: {error}", field="paths") from None
        if pattern.include is None or pattern.regex is None:
            raise Invalid(f"paths has {glob!r}, which matches nothing", field="paths")
        # PostgreSQL knows no atomic groups and needs none, since it does not backtrack.
        expression, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern.pattern)
        found.append((pattern.include, _as_posix(expression)))
    return found


def _as_posix(expression: str) -> str:
    """Adapt an expression to PostgreSQL: no named groups, and `[:` starts a character class."""
    expression = expression.replace("?P<ps_d>", "?:")
    return re.sub(r"(?<!\\)\[([:.=])", r"[\\\1", expression)


def notice_of_none(scope: Scope, globs: Sequence[str]) -> str:
    """Explain why the scope has no files."""
    folders = [repository.path for repository in indexed_in(scope.projects)]
    for glob in globs:
        if folder := next((f for f in folders if glob.lstrip("!").startswith(f"{f}/")), None):
            return f"No file matches: paths are within a repository, so omit {folder}."
    return NOTHING_INDEXED


def known_languages(names: Sequence[str]) -> Sequence[str]:
    """Return the names in the index. Raises Invalid for an unknown language."""
    if unknown := sorted(set(names) - set(KNOWN)):
        raise Invalid(
            f"unknown languages: {', '.join(unknown)}; known are: {', '.join(KNOWN)}",
            field="languages",
        )
    return names


def find(query: str, scope: Scope, limit: int) -> Matches:
    """Return at most one match per file, exact ones first."""
    exact = {one.key: one for one in exactly(asking.named_in(query), scope)}
    for most in (min(PASSAGES_PER_FILE * limit, MAX_PASSAGES), MAX_DEPTH_PASSAGES):
        found = _passages(query, scope, scope.files, most)
        graded = exact | {one.key: one for one in grade(found.hits) if one.key not in exact}
        matches = [
            Match(file, one.score, one.exact, one.hits)
            for file, one in islice(present(graded), limit)
        ]
        if len(matches) == limit or len(found.hits) < most:
            break
    return Matches(matches, found.notice, found.pending)


def _passages(
    query: str, scope: Scope, files: QuerySet[SourceFile] | None, limit: int
) -> search.Found:
    return search.find_passages(
        query, domain=passages.DOMAIN, projects=scope.projects, records=files, limit=limit
    )


def exactly(named: Named, scope: Scope) -> list[Graded]:
    """Return files with one of the paths or identifiers; whole paths first."""
    if not named.text:
        return []
    candidates = _named(named, scope)
    rows: Any = list(candidates.values_list("path", "rank", "pk")[:MAX_EXACT_COPIES])
    whole = [key for _, rank, key in rows if rank == 0]
    others = [key for _, rank, key in rows if rank == 1]
    are_few = len({path for path, *_ in rows}) <= MAX_EXACT
    graded = _grade_exact(named, scope, SourceFile.objects.filter(pk__in=whole)) if whole else []
    if others and are_few:
        graded += _grade_exact(named, scope, SourceFile.objects.filter(pk__in=others))
    elif others and named.alone:
        graded += _grade_exact(named, scope, candidates.filter(rank=1))[:MAX_EXACT]
    return graded


def _grade_exact(named: Named, scope: Scope, files: QuerySet[SourceFile]) -> list[Graded]:
    """Grade files, first those with a passage that defines a named identifier."""
    found = _passages(named.text, scope, files, MAX_PASSAGES)
    defining = [hit for hit in found.hits if defines(hit, named.identifiers)]
    known = {hit.record_id for hit in defining}
    elsewhere = [hit for hit in found.hits if hit.record_id not in known]
    return grade(defining, exact=True) + grade(elsewhere, exact=True)


def _named(named: Named, scope: Scope) -> Any:
    """Return a queryset of files; `rank` is 0 if the whole path is named."""
    relative = [path.lstrip("/") for path in named.files]
    whole = Q(path__in=relative) | Q(place__in=[p for p in named.files if p.startswith("/")])
    condition = whole | _defining(named.identifiers)
    for path in relative:
        condition |= Q(path__endswith=f"/{path}")
    place = Concat("repository__path", Value("/"), "path", output_field=TextField())
    rank = Case(When(whole, then=Value(0)), default=Value(1))
    known = scope.candidates.alias(place=place).annotate(rank=rank)
    return known.filter(condition).order_by("rank", "path")


def _defining(identifiers: Sequence[str]) -> Q:
    """Match a qualified name that may begin with a module or package the file does not name.

    So `acme.shop.Cart.cancel` also matches `Cart.cancel`, and `cart.cancel` a `cancel` in `cart`.
    """
    known = [name for one in identifiers for name in _qualified(one)]
    condition = Q(symbols__overlap=known)
    for identifier in identifiers:
        *above, last = identifier.split(".")
        if above:
            part = rf"(^|[/._-]){re.escape(above[-1])}([/._-]|$)"
            condition |= Q(symbols__contains=[last], path__regex=part)
    return condition


def _qualified(identifier: str) -> list[str]:
    suffixes = names.suffixes_of(identifier)
    return suffixes[: max(1, len(suffixes) - 1)]


def defines(hit: search.Hit, identifiers: Sequence[str]) -> bool:
    known = names.known_as(passages.symbols_in(hit.headline))
    wanted = (name for identifier in identifiers for name in names.suffixes_of(identifier))
    return not set(known).isdisjoint(wanted)


def grade(hits: Iterable[search.Hit], *, exact: bool = False) -> list[Graded]:
    """Sort files by the combined score of their best passages, best first."""
    by_file: dict[int, list[search.Hit]] = {}
    for hit in hits:
        by_file.setdefault(hit.record_id, []).append(hit)
    graded = [Graded(key, score_of(own), exact, own[: len(SHARES)]) for key, own in by_file.items()]
    return sorted(graded, key=lambda one: -one.score)


def score_of(hits: Sequence[search.Hit]) -> float:
    together = sum(share * hit.score for share, hit in zip(SHARES, hits, strict=False))
    return together / sum(SHARES)


def present(found: Mapping[int, Found]) -> Iterator[tuple[SourceFile, Found]]:
    """Yield each file once, in the given order, without files deleted or replaced by links since.

    Copies of a file in several work trees of a project count as one.
    """
    files = SourceFile.objects.select_related("repository__project").defer("symbols")
    known = files.in_bulk(list(found))
    is_readable, lies_elsewhere = cache(roots.is_readable), cache(roots.may_lie_elsewhere)
    seen: set[object] = set()
    for key, one in found.items():
        if file := known.get(key):
            root, host = Path(file.repository.path), file.repository.host
            place = root / file.path
            copy = (file.repository.project_id, file.path, file.digest)
            is_there = roots.is_file(place) if is_readable(root) else lies_elsewhere(root, host)
            if is_there and seen.isdisjoint((place, copy)):
                seen |= {place, copy}
                yield file, one


def existing(keys: Sequence[int]) -> set[int]:
    """Return the keys of the files that a search may return, so not those deleted since."""
    return {file.pk for file, _ in present(dict.fromkeys(keys))}
