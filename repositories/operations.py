"""The repository operations."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.operations import Request, Result, Written, operation
from contextd.validation import (
    AbsolutePath,
    Clamp,
    Filled,
    GitRemote,
    Notice,
    RecordId,
)
from repositories import awaiting, services

Path = Annotated[AbsolutePath, Field(description="Absolute path of the repository or folder")]
Glob = Annotated[Filled, Field(max_length=services.MAX_GLOB_CHARACTERS)]
Globs = Annotated[list[Glob], Field(max_length=100)]


class FileError(Result):
    path: str
    error: str


class IndexRepository(Request):
    """Index a repository so that repository_search finds its code; call it again after changes."""

    path: Path
    include_patterns: Annotated[
        Globs, Field(description="Only files that match a pattern, as in .gitignore: src/**/*.py")
    ] = []
    exclude_patterns: Annotated[Globs, Field(description="Skip files that match a pattern")] = []
    max_file_size: Annotated[
        int,
        Clamp(1, services.MAX_BYTES),
        Field(description="Bytes, up to 10 MB; larger files are skipped"),
    ] = 1024 * 1024


class RepositoryStatus(Result):
    path: str
    project: str
    state: Annotated[
        Literal["queued", "running", "done", "failed", "cancelled", "never"],
        Field(description="State of the requested run, else of the newest one"),
    ]
    job_id: Annotated[str | None, Field(description="Id of that run")]
    files_indexed: Annotated[int, Field(description="Number of searchable files")]
    include_patterns: list[str]
    exclude_patterns: list[str]
    max_file_size: int
    indexed_at: Annotated[datetime | None, Field(description="When the last run ended")]
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: Annotated[int, Field(description="Files deleted, renamed or newly excluded")] = 0
    skipped: Annotated[dict[str, int], Field(description="Skipped files by reason")] = {}
    partly_outlined: Annotated[
        int, Field(description="Files added or changed whose definitions took too long to find all")
    ] = 0
    failed: Annotated[int, Field(description="Files that could not be read")] = 0
    errors: Annotated[list[FileError], Field(description="The first hundred of these")] = []
    seconds: Annotated[float, Field(description="Duration of the run in seconds")] = 0
    done: Annotated[int, Field(description="Files processed so far")] = 0
    total: int = 0
    current_path: str = ""
    passages: Annotated[int, Field(description="Passages of all files of the project")] = 0
    passages_pending: Annotated[
        int, Field(description="Passages found only by words until they are embedded")
    ] = 0
    notice: Notice = None


class RepositoryIndexed(RepositoryStatus, Written):
    pass


@operation("index_repository", effect="write", timeout=300, atomic=False)
async def index(caller: Caller, request: IndexRepository, talk: Conversation) -> RepositoryIndexed:
    return as_indexed(await awaiting.index(caller, dict(request), talk))


class GetIndexStatus(Request):
    """Get the progress and the results of indexing a repository."""

    path: Annotated[AbsolutePath | None, Field(description="Path of the repository")] = None
    job_id: Annotated[RecordId | None, Field(description="Id of the run, instead of a path")] = None


@operation("index_status", effect="read", timeout=5)
def get_status(caller: Caller, request: GetIndexStatus) -> RepositoryStatus:
    return as_status(services.status(caller, **dict(request)))


class CancelIndex(Request):
    """Cancel a run of index_repository; what it has indexed so far stays."""

    path: Annotated[AbsolutePath | None, Field(description="Path of the repository")] = None
    job_id: Annotated[RecordId | None, Field(description="Id of the run, instead of a path")] = None


@operation("index_cancel", effect="write", timeout=5)
def cancel(caller: Caller, request: CancelIndex) -> RepositoryIndexed:
    return as_indexed(services.cancel(caller, **dict(request)))


def as_indexed(state: services.State) -> RepositoryIndexed:
    return RepositoryIndexed.model_validate(as_status(state).model_dump())


def as_status(state: services.State) -> RepositoryStatus:
    repository, job = state.repository, state.job
    return RepositoryStatus.model_validate(
        {
            **state.report,
            "path": repository.path,
            "project": repository.project.name,
            "state": job.state if job else "never",
            "job_id": str(job.pk) if job else None,
            "files_indexed": state.files,
            "include_patterns": repository.include_patterns,
            "exclude_patterns": repository.exclude_patterns,
            "max_file_size": repository.max_file_size,
            "indexed_at": repository.indexed_at,
            "done": job.done if job else 0,
            "total": job.total if job else 0,
            "current_path": job.note if job else "",
            "passages": state.coverage.passages,
            "passages_pending": state.coverage.pending,
            "notice": state.notice,
        }
    )


class SearchRepository(Request):
    """Find code by what it does, by its words, or by an exact identifier or path."""

    query: Annotated[Filled, Field(max_length=1000, description="What to look for")]
    project_path: Annotated[
        AbsolutePath | None, Field(description="Only this project or repository")
    ] = None
    git_remote: GitRemote = None
    top_k: Annotated[int, Clamp(1, 100), Field(description="Maximum number of files, 1 to 100")] = 5
    paths: Annotated[
        Globs,
        Field(description="Only files that match, as in .gitignore: src/**/*.py; !tests/ excludes"),
    ] = []
    languages: Annotated[
        list[Annotated[Filled, Field(max_length=32)]],
        Field(
            max_length=20, description="Only these languages, such as python, typescript, markdown"
        ),
    ] = []
    content: Annotated[
        Literal["path", "preview", "full"],
        Field(description="Text of the passages: none, the beginning, or all"),
    ] = "preview"


class FoundPassage(Result):
    first_line: int
    last_line: int
    symbol: Annotated[str, Field(description="Name defined there, if any")]
    score: float
    text: Annotated[str | None, Field(description="Text as of the indexing")] = None


class FoundFile(Result):
    path: Annotated[str, Field(description="Within the repository")]
    repository: Annotated[str, Field(description="Path of the repository")]
    language: str
    score: Annotated[float, Field(description="Relevance, 0 to 1")]
    exact: Annotated[
        bool, Field(description="The query names this file or what it defines; these come first")
    ]
    passages: Annotated[list[FoundPassage], Field(description="Up to three passages, best first")]


class FoundFiles(Result):
    results: list[FoundFile]
    query: str
    top_k: int
    passages_pending: Annotated[
        int, Field(description="Passages searched only by words until they are embedded")
    ]
    notice: Notice = None


@operation("repository_search", effect="read", timeout=10, atomic=False)
def search(caller: Caller, request: SearchRepository) -> FoundFiles:
    found = services.find(caller, limit=request.top_k, **request.model_dump(exclude=NOT_ASKED))
    return FoundFiles(
        results=[as_found(match, request.content) for match in found.matches],
        query=request.query,
        top_k=request.top_k,
        passages_pending=found.pending,
        notice=found.notice,
    )


NOT_ASKED = {"top_k", "content"}


def as_found(match: services.Match, content: services.Content) -> FoundFile:
    return FoundFile(
        path=match.file.path,
        repository=match.file.repository.path,
        language=match.file.language,
        score=match.score,
        exact=match.exact,
        passages=[
            FoundPassage(
                first_line=hit.first_line,
                last_line=hit.last_line,
                symbol=services.symbol_of(hit),
                score=hit.score,
                text=services.text_of(hit, content),
            )
            for hit in match.hits
        ],
    )


class ListRepositories(Request):
    """List the indexed repositories with their counts and indexing progress."""


class RepositoryList(Result):
    repositories: list[RepositoryStatus]
    total: int


@operation("repository_list", effect="read", timeout=5)
def list_repositories(caller: Caller, request: ListRepositories) -> RepositoryList:
    found = [as_status(state) for state in services.listed(caller)]
    return RepositoryList(repositories=found, total=len(found))


class RemoveRepository(Request):
    """Remove a repository and its index; its files on disk stay untouched."""

    path: Path


class RepositoryRemoved(Result):
    path: str
    files_removed: int


@operation("repository_remove", effect="delete", timeout=120, atomic=False)
def remove(caller: Caller, request: RemoveRepository) -> RepositoryRemoved:
    number = services.remove(caller, request.path)
    return RepositoryRemoved(path=request.path, files_removed=number)
