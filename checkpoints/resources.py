"""Serve checkpoints by address."""

from checkpoints import services
from contextd import validation
from contextd.callers import Caller
from contextd.resources import Listed, Query, resource

IN_OVERVIEW = 20


def newest(caller: Caller, *, offset: int, limit: int) -> list[Listed]:
    page = services.recent(
        caller, project_path=None, limit=limit, offset=offset, sort_by="created_at"
    )
    return [
        Listed(
            uri=services.address_of(checkpoint),
            title=checkpoint.summary,
            description=f"{checkpoint.project_path}, {checkpoint.created_at:%Y-%m-%d %H:%M}",
        )
        for checkpoint in page.checkpoints
    ]


@resource("checkpoint://{checkpoint_id}", title="Checkpoint", listed=newest)
def checkpoint(caller: Caller, query: Query, checkpoint_id: str) -> str:
    """Read one complete checkpoint."""
    return services.as_text(services.get(caller, checkpoint_id))


def _project_path(query: Query) -> str | None:
    path = query.get("project_path")
    return path and validation.checked_path(path, "project_path")


@resource("checkpoint://recent{?project_path,tag}", title="Recent checkpoints")
def recent(caller: Caller, query: Query) -> str:
    """List the newest checkpoints: of one project, with one tag, or all you may see."""
    page = services.recent(
        caller,
        project_path=_project_path(query),
        tags=[query["tag"]] if "tag" in query else [],
        limit=IN_OVERVIEW,
        offset=0,
        sort_by="created_at",
    )
    return services.as_overview(page)
