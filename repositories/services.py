"""Index, search and remove repositories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from django.db.models import Count, QuerySet

from contextd import jobs, limits, notes, projects, search
from contextd.callers import Caller
from contextd.errors import Internal, Invalid, NotAllowed, NotFound
from contextd.models import Job, Project, get_record
from contextd.status import has_records, health_check
from repositories import finding, indexing, passages, roots, selection
from repositories.finding import Match as Match
from repositories.finding import Matches
from repositories.models import Repository, SourceFile
from repositories.selection import MAX_GLOB_CHARACTERS as MAX_GLOB_CHARACTERS

DOMAIN = passages.DOMAIN
TASK = "repositories.tasks.index"
PREVIEW_CHARACTERS = 300
MAX_BYTES = 10 * 1024 * 1024
ASKED = ["include_patterns", "exclude_patterns", "max_file_size"]
KEPT_FIELDS = ["project", *ASKED]
SHOWN_FIELDS = ["path", "repository", "language", "size", "symbols", "modified_at", "indexed_at"]
"""Fields of a file that people read, in addition to its passages."""
COUNTED_FIELDS = ("added", "changed", "unchanged", "removed")

Content = Literal["path", "preview", "full"]


@dataclass(frozen=True, slots=True)
class State:
    """A repository, its newest run, and how much of it is embedded."""

    repository: Repository
    job: Job | None
    files: int
    coverage: search.EmbeddingCoverage
    is_gone: bool = False
    remark: str | None = None

    @property
    def report(self) -> dict[str, Any]:
        """Return the report of the run; empty until it ends, or if it was cancelled."""
        report: dict[str, Any] = self.job.outcome if self.job else self.repository.report
        return report

    @property
    def notice(self) -> str | None:
        """Return a notice about the run and this answer."""
        return " ".join(filter(None, [self._of_run, self.remark])) or None

    @property
    def _of_run(self) -> str | None:
        if self.job and self.job.is_open and self.job.is_unwanted:
            return "The run is being cancelled; what it has indexed so far stays."
        if self.job and self.job.is_open:
            return f"The run goes on: ask index_status for job {self.job.pk}; index_cancel ends it."
        if self.job and self.job.state == Job.State.CANCELLED:
            return "The run was cancelled; what it had indexed stays. The next one resumes."
        if self.job and self.job.error:
            return f"The run failed: {self.job.error}"
        return "The folder is gone, so none of its files is found." if self.is_gone else None


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file in the form of a checkpoint; its description is the best passage."""

    id: str
    summary: str
    description: str
    project_path: str
    context: dict[str, str]
    created_at: datetime
    score: float
    distance: float | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFiles:
    files: list[FoundFile]
    notice: str | None


@dataclass(frozen=True, slots=True)
class Started:
    """A run; not `new` if it was already in progress."""

    job_id: int
    is_new: bool


def register_for_search() -> None:
    search.register_records(
        DOMAIN,
        "Files",
        SourceFile,
        found_by="repository_search",
        fields=SHOWN_FIELDS,
        use_is_known=False,
        existing=finding.existing,
    )


@health_check("repository")
def probe() -> None:
    """Check that the tables can be read."""
    has_records(Repository.objects.all(), "repositories")


def begin(
    caller: Caller,
    *,
    path: str,
    include_patterns: Sequence[str],
    exclude_patterns: Sequence[str],
    max_file_size: int,
    queued: bool = True,
) -> Started:
    """Start a run over the folder, or join the one in progress."""
    selection.ensure_patterns("include_patterns", include_patterns)
    selection.ensure_patterns("exclude_patterns", exclude_patterns)
    if not 1 <= max_file_size <= MAX_BYTES:
        raise Invalid(f"max_file_size must be 1 to {MAX_BYTES} bytes", field="max_file_size")
    folder = roots.real_folder(caller, path)
    with limits.transaction():
        project = _project(caller, path, folder)
        repository = _repository(caller, project, folder)
        started = submit(repository, caller.principal, queued=queued)
        if started.is_new:
            _move(repository, project)
            repository.include_patterns = list(include_patterns)
            repository.exclude_patterns = list(exclude_patterns)
            repository.max_file_size = max_file_size
            repository.save(update_fields=KEPT_FIELDS)
    return started


def _project(caller: Caller, path: str, folder: Path) -> Project:
    """Return the folder's own project; a link in another project gives no access."""
    real = str(folder)
    if caller.sees_all_projects and projects.find(caller, real) is None:
        return projects.resolve(caller, path)
    return projects.resolve(caller, real)


def _move(repository: Repository, project: Project) -> None:
    """Move to another project after a changed remote; the run then stores all files again."""
    if repository.project_id != project.pk:
        repository.project = project
        repository.files.update(digest="")


def _repository(caller: Caller, project: Project, folder: Path) -> Repository:
    repository, _ = Repository.objects.get_or_create(
        path=str(folder),
        defaults={"project": project, "created_by": caller.principal, "max_file_size": 0},
    )
    if not caller.sees(repository.project_id):
        raise NotAllowed(
            f"{folder} is indexed for a project outside of the context {caller.context!r}",
            field="path",
        )
    return repository


def index_again(caller: Caller, repository: Repository) -> Started:
    """Run with the last options. Raises NotAllowed if the caller may not index folders."""
    roots.ensure_may_index(caller)
    return submit(repository, caller.principal)


def submit(repository: Repository, principal: str, *, queued: bool = True) -> Started:
    """Run again over a repository with its last options."""
    job, is_new = jobs.submit(TASK, str(repository.pk), {}, principal, queued=queued)
    return Started(job.pk, is_new)


def index(job_id: int) -> None:
    """Work on a run unless it has ended or another process does; then have it embedded."""
    jobs.work(job_id, _run)
    search.embed_soon()


def _run(hold: jobs.Hold) -> dict[str, Any]:
    repository = Repository.objects.filter(pk=int(hold.job.key)).first()
    if repository is None:
        raise jobs.Stopped
    return indexing.run(repository, hold)


def outcome(caller: Caller, job_id: int) -> State:
    """Return the state of a run. Raises Internal if it failed."""
    state = status(caller, path=None, job_id=str(job_id))
    if state.job and state.job.state == Job.State.FAILED:
        raise Internal(f"indexing {state.repository} failed: {state.job.error}", job_id=str(job_id))
    return state


def joined(state: State, asked: Mapping[str, Any]) -> State:
    """Add a remark for a caller who requested a run but joined this one."""
    other = [name for name in ASKED if asked[name] != getattr(state.repository, name)]
    if not other:
        return state
    return replace(state, remark=f"It was already in progress, with different {', '.join(other)}.")


def status(caller: Caller, *, path: str | None, job_id: str | None) -> State:
    """Return the state of the repository at the path, or of the one of the run."""
    if job_id is not None:
        job = get_record(Job.objects.filter(task=TASK), job_id)
        if (repository := _visible_to(caller).filter(pk=int(job.key)).first()) is None:
            raise NotFound(f"there is no job with id {job_id!r}", id=job_id)
        if path is not None and at(caller, path) != repository:
            raise Invalid(f"job {job_id} indexes {repository}, not {path}", field="job_id")
        return state_of(repository, job)
    if path is None:
        raise Invalid("path or job_id is required", field="path")
    return state_of(at(caller, path))


def at(caller: Caller, path: str) -> Repository:
    """Return the repository at the path, which may have links. Raises NotFound."""
    found = _visible_to(caller).filter(path__in=finding.spellings(caller, path)).first()
    if found is None:
        raise NotFound(f"{path} is not indexed; index_repository does that", field="path")
    return found


def cancel(caller: Caller, *, path: str | None, job_id: str | None) -> State:
    """Cancel the run, or the newest of the repository at the path; do nothing if it has ended."""
    state = status(caller, path=path, job_id=job_id)
    if state.job:
        jobs.cancel(state.job.pk)
        state.job.refresh_from_db()
    return state


def state_of(repository: Repository, job: Job | None = None) -> State:
    (state,) = states_of([repository])
    return replace(state, job=job or state.job)


def listed(caller: Caller) -> list[State]:
    return states_of(_visible_to(caller))


def states_of(repositories: Iterable[Repository]) -> list[State]:
    """Return the state of each, with the same few queries for any number of them."""
    asked = list(repositories)
    jobs_of = Job.objects.filter(task=TASK, key__in=[str(one.pk) for one in asked])
    newest = {job.key: job for job in jobs_of.order_by("key", "-created_at", "-pk").distinct("key")}
    files = SourceFile.objects.filter(repository__in=asked).order_by().values_list("repository")
    counts = dict(files.annotate(number=Count("pk")))
    coverage = search.coverage(DOMAIN, [one.project_id for one in asked])
    return [
        State(
            repository,
            newest.get(str(repository.pk)),
            counts.get(repository.pk, 0),
            coverage.get(repository.project_id, search.EmbeddingCoverage(0, 0)),
            finding.is_gone(repository),
        )
        for repository in asked
    ]


def _visible_to(caller: Caller) -> QuerySet[Repository]:
    return Repository.objects.visible_to(caller).select_related("project")


def remove(caller: Caller, path: str) -> int:
    """Remove the repository and its files from the index; return the number of files."""
    return forget(at(caller, path))


def forget(repository: Repository) -> int:
    """Cancel a run first, so that it cannot restore anything; then delete all."""
    key, number = str(repository.pk), 0
    jobs.cancel_all(TASK, key)
    while keys := list(repository.files.values_list("pk", flat=True)[: indexing.FORGOTTEN_AT_ONCE]):
        with limits.transaction():
            indexing.forget_files(keys)
        number += len(keys)
    with limits.transaction():
        Repository.objects.select_for_update().filter(pk=repository.pk).first()
        indexing.forget_files(late := list(repository.files.values_list("pk", flat=True)))
        repository.delete()
    jobs.cancel_all(TASK, key)  # one may have begun meanwhile
    return number + len(late)


def find(
    caller: Caller,
    *,
    query: str,
    limit: int,
    project_path: str | None,
    git_remote: str | None,
    paths: Sequence[str],
    languages: Sequence[str],
) -> Matches:
    """Return the best files of the projects the caller may see."""
    scope = finding.scope_of(
        caller, project_path=project_path, git_remote=git_remote, paths=paths, languages=languages
    )
    if scope is None:
        place = projects.describe_location(project_path, git_remote)
        return Matches([], f"No project is known for {place}; index_repository creates one.")
    found = finding.find(query, scope, limit)
    if not found.matches and not scope.candidates.exists():
        found = replace(found, notice=finding.notice_of_none(scope, paths))
    notes.answered(DOMAIN, found.answers)
    return found


def find_files(query: str, within: frozenset[int] | None, limit: int) -> FoundFiles:
    """Find files of these projects, or of all with None, ranked and scored as checkpoints are."""
    indexed = finding.indexed_in(within)
    if not indexed:
        return FoundFiles([], None)
    scope = finding.files_of(indexed, within)
    found = search.find_existing(
        query, domain=DOMAIN, projects=within, records=scope.files, limit=limit
    )
    files = SourceFile.objects.select_related("repository").defer("symbols")
    pairs = search.with_records(found.hits, files)
    return FoundFiles([_as_checkpoint(file, hit) for hit, file in pairs], found.notice)


def _as_checkpoint(file: SourceFile, hit: search.Hit) -> FoundFile:
    lines = f"{hit.first_line}-{hit.last_line}"
    facts = {"path": file.path, "lines": lines, "language": file.language}
    symbol = symbol_of(hit)
    return FoundFile(
        id=f"{DOMAIN}:{file.pk}",
        summary=f"{file.path}, lines {lines}{f': {symbol}' if symbol else ''}",
        description=hit.text,
        project_path=file.repository.path,
        context={**facts, **({"symbol": symbol} if symbol else {})},
        created_at=file.indexed_at,
        score=hit.score,
        distance=hit.distance,
    )


def texts_of(file: SourceFile) -> list[str]:
    """Return the texts of its passages in order; none if the file has been deleted."""
    return search.texts(DOMAIN, file.pk) if finding.existing([file.pk]) else []


def symbol_of(hit: search.Hit) -> str:
    return ", ".join(passages.symbols_in(hit.headline))


def text_of(hit: search.Hit, content: Content) -> str | None:
    """Return the requested text; a preview ends with a complete line if that is short enough."""
    if content == "path":
        return None
    if content == "full" or len(hit.text) <= PREVIEW_CHARACTERS:
        return hit.text
    beginning = hit.text[:PREVIEW_CHARACTERS]
    return f"{beginning.rpartition(chr(10))[0] or beginning}\n…"


def summary(state: State) -> list[str]:
    """Return a report of a run for people."""
    report = state.report
    skipped = [f"{number} {reason}" for reason, number in report.get("skipped", {}).items()]
    lines = [
        f"{state.repository}: {state.files} files are indexed",
        ", ".join(f"{report.get(what, 0)} {what}" for what in COUNTED_FIELDS),
        *([f"skipped: {', '.join(skipped)}"] if skipped else []),
        *([f"partly outlined: {n}"] if (n := report.get("partly_outlined")) else []),
    ]
    if report.get("failed"):
        lines.append(f"could not be read: {report['failed']}")
        lines += [f"  {problem['path']}: {problem['error']}" for problem in report["errors"]]
    if state.coverage.pending:
        lines.append(f"to embed: {state.coverage.pending} of {state.coverage.passages} passages")
    return [*lines, *([state.notice] if state.notice else [])]


def progress(state: State) -> str:
    """Return the progress in a few words, for a table."""
    if (job := state.job) is None:
        return "never"
    is_measured = job.state == Job.State.RUNNING and job.total
    return f"running: {job.done} of {job.total}" if is_measured else job.state
