"""Finds the project of a path: by alias, by git remote, or as a new project."""

import configparser
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from django.db import IntegrityError, transaction

from contextd import notes, search
from contextd.callers import Caller
from contextd.completions import completer
from contextd.errors import Invalid, NotAllowed
from contextd.models import Project, ProjectPath
from contextd.validation import pure_path

logger = logging.getLogger(__name__)

GIT_REMOTE_KEY = "git_remote"
FOLDERS_OF_HOMES = {"/home", "/Users", "C:/Users"}
FOLDERS_OF_MANY = FOLDERS_OF_HOMES | {
    *("/root", "/tmp", "/var", "/var/tmp", "/private/tmp", "/opt", "/srv", "/usr", "/mnt"),  # noqa: S108
}

Merger = Callable[[Project, Project], None]
_mergers: list[Merger] = []


def before_merge(merger: Merger) -> Merger:
    """Register a function that prepares an app's records before two projects are merged."""
    _mergers.append(merger)
    return merger


def find(caller: Caller, path: str | None, git_remote: str | None = None) -> Project | None:
    """Return the project that contains `path` or has that remote, if the caller may see it.

    `path` may be a sub-folder.
    """
    remote = normalize_remote(git_remote or "")
    if path is None:
        project = _with_remote(remote)
    else:
        top = _work_tree_of(caller, path)
        project = _known(path, top, _remote_of(top) or remote)
    if project is None or not caller.sees(project.pk):
        return None
    notes.about_project(project.pk)
    return project


def hint_at_former(caller: Caller, path: str | None, git_remote: str | None) -> str | None:
    """Return what to do if the path is of no project, since its repository has moved elsewhere."""
    if path is None or find(caller, path, git_remote):
        return None
    alias = ProjectPath.objects.containing(path).select_related("project").first()
    if alias is None or not alias.project.git_remote or not caller.sees(alias.project_id):
        return None
    return (
        f"the folder belonged to the project of {alias.project.git_remote}; if that repository has"
        " only moved, change the git remote of the project in the admin"
    )


@completer("project_path")
def paths_that_hold(caller: Caller, typed: str) -> list[str]:
    """Return project paths that contain the typed text, those that start with it first."""
    visible = ProjectPath.objects.filter(project__in=Project.objects.visible_to(caller))
    paths = visible.filter(path__icontains=typed).values_list("path", flat=True)
    return sorted(paths, key=lambda path: (not path.startswith(typed), path))


@completer(GIT_REMOTE_KEY)
def remotes_that_hold(caller: Caller, typed: str) -> list[str]:
    """Return git remotes that contain the typed text, those that start with it first."""
    visible = Project.objects.visible_to(caller).filter(git_remote__icontains=typed)
    remotes = [remote for remote in visible.values_list("git_remote", flat=True) if remote]
    return sorted(remotes, key=lambda remote: (not remote.startswith(typed), remote))


def resolve(caller: Caller, path: str, context: Mapping[str, str] | None = None) -> Project:
    """Return the project that `path` belongs to; create it if there is none.

    The remote of the folder if the server can read it, or else `context["git_remote"]`, unites
    work trees and teammates' clones in one project.
    """
    if not _folder_name(path):
        raise Invalid(
            f"{path} is the root of a file system; give the project's own folder",
            field="project_path",
        )
    top = _work_tree_of(caller, path)
    read = _remote_of(top)
    remote = read or normalize_remote((context or {}).get(GIT_REMOTE_KEY, ""))
    root = str(top or path)
    project = _known(path, top, remote) or _create(caller, root, remote)
    if not caller.sees(project.pk):
        raise _not_held(caller, root)
    if remote and caller.sees_all_projects:
        _claim(project, root, remote, may_move=read is not None)
    notes.about_project(project.pk)
    return project


def of_remote(url: str) -> Project:
    """Return the project with that git remote; create it if there is none. Raise Invalid."""
    remote = normalize_remote(url)
    if remote is None:
        raise Invalid(
            "this is not a git remote; give it as `git remote get-url origin` prints it",
            field="git_remote",
        )
    made = {"name": _folder_name(remote)}
    return Project.objects.get_or_create(git_remote=remote, defaults=made)[0]


def _known(path: str, top: Path | None, remote: str | None) -> Project | None:
    alias = ProjectPath.objects.containing(path).select_related("project").first()
    if alias and _holds(alias, path, top, remote):
        return alias.project
    return _with_remote(remote)


def _with_remote(remote: str | None) -> Project | None:
    return Project.objects.filter(git_remote=remote).first() if remote else None


def _claim(project: Project, root: str, remote: str, *, may_move: bool) -> None:
    """Add the folder to the project, if both have that remote.

    Callers limited to some projects cannot add folders: whatever is saved below a project's folder
    is filed there, for everyone who sees that project.
    """
    if project.git_remote is None:
        _learn_remote(project, root, remote)
    if project.git_remote == remote:
        _add_folder(project, root, may_move=may_move)


def _add_folder(project: Project, root: str, *, may_move: bool) -> None:
    """Add the folder to the project; take it from another project only if it may move.

    A remote that was sent, not read, proves nothing: anyone could take a team's folders with it.
    """
    holder = ProjectPath.objects.containing(root).select_related("project").first()
    is_of_another = holder and holder.project != project and _contains(holder, root)
    if is_of_another and not may_move:
        return
    alias, _ = ProjectPath.objects.get_or_create(path=root, defaults={"project": project})
    if may_move and alias.project != project:
        ProjectPath.objects.filter(pk=alias.pk).update(project=project)
        told = (root, alias.project_id, project.pk)
        logger.warning("the folder %s moved from project %d to %d, whose remote it has now", *told)


def _learn_remote(project: Project, root: str, remote: str) -> None:
    """Record the remote of a project that has none, unless another project has it."""
    is_root = Project.objects.filter(pk=project.pk, git_remote=None, paths__path=root)
    try:
        with transaction.atomic():
            if _with_remote(remote) is None and is_root.update(git_remote=remote):
                project.git_remote = remote
    except IntegrityError:
        return  # a concurrent call recorded it for another project


def _holds(alias: ProjectPath, path: str, top: Path | None, remote: str | None) -> bool:
    """Return False for a different repository, and for a path in a folder of many projects."""
    if remote and alias.project.git_remote not in (None, remote):
        return False
    if top is not None:
        return Path(alias.path).is_relative_to(top)
    return _contains(alias, path)


def _contains(alias: ProjectPath, path: str) -> bool:
    return alias.path == path or not _holds_many(alias.path)


def _holds_many(path: str) -> bool:
    """Return whether it is a home or system folder, which may contain many projects."""
    folder = pure_path(path)
    return folder.as_posix() in FOLDERS_OF_MANY or folder.parent.as_posix() in FOLDERS_OF_HOMES


def _create(caller: Caller, root: str, remote: str | None) -> Project:
    if not caller.sees_all_projects:
        raise _not_held(caller, root)
    made = {"name": _folder_name(root)}
    if remote:
        return Project.objects.get_or_create(git_remote=remote, defaults=made)[0]
    project = Project.objects.create(**made)
    alias, is_new = ProjectPath.objects.get_or_create(path=root, defaults={"project": project})
    if is_new:
        return project
    project.delete()  # a concurrent call created one for this folder
    return alias.project


def _not_held(caller: Caller, root: str) -> NotAllowed:
    """Return the same error whether or not such a project exists elsewhere."""
    return NotAllowed(
        f"the context {caller.context!r} contains no project for {root}; give the git remote of "
        f"the clone (`{GIT_REMOTE_KEY}` or `context.{GIT_REMOTE_KEY}`), or ask an admin to add the "
        "project",
        field="project_path",
    )


def merge(kept: Project, absorbed: Project) -> None:
    """Move the paths and every record of `absorbed` to `kept`, then delete it."""
    with transaction.atomic():
        for merger in _mergers:
            merger(kept, absorbed)
        search.merge_projects(kept.pk, absorbed.pk)
        for relation in absorbed._meta.related_objects:
            holders = relation.related_model._base_manager.filter(**{relation.field.name: absorbed})
            if relation.many_to_many:
                for holder in holders:
                    getattr(holder, relation.field.name).add(kept)
            else:
                holders.update(**{relation.field.name: kept})
        remote, absorbed.git_remote = absorbed.git_remote, None
        absorbed.delete()
        if kept.git_remote is None and remote:
            kept.git_remote = remote
            kept.save(update_fields=["git_remote"])


# Longer than a drive letter: `C:\\shop` and `C:/shop` are paths.
_SCP_LIKE = re.compile(r"^(?:[^@/]+@)?(?P<host>[^:/@]{2,}):(?!//)(?P<path>.+)$")
_URL = re.compile(
    r"^(?:https?|ssh|git|git\+ssh)://(?:[^/]*@)?(?P<host>\w[\w.-]*|\[[\da-f:.]+\])(?::\d+)?/(?P<path>.+)$",
    re.IGNORECASE,
)
_WITHOUT_SCHEME = re.compile(r"^(?:[^@/]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)(?::\d+)?/(?P<path>.+)$")
# Hosts where `Acme/Shop` is the same as `acme/shop`.
_HOSTS_OF_ANY_CASE = {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"}


def normalize_remote(url: str) -> str | None:
    """Return `github.com/acme/shop` for `git@github.com:acme/shop.git` and its https form."""
    url = url.strip()
    matched = _URL.match(url) or _WITHOUT_SCHEME.match(url) or _SCP_LIKE.match(url)
    if not matched:
        return None
    host, path = matched["host"].lower(), matched["path"].strip("/")
    path = (path.lower() if host in _HOSTS_OF_ANY_CASE else path).removesuffix(".git")
    return f"{host}/{path}"[:500] if path else None


def describe_location(path: str | None, git_remote: str | None) -> str | None:
    """Return the place that a caller named, without credentials that a remote may hold."""
    return path or normalize_remote(git_remote or "") or "that git_remote"


def _folder_name(path: str) -> str:
    return pure_path(path).name[:200]


def _work_tree_of(caller: Caller, path: str) -> Path | None:
    """Return the work tree, to local callers only: others must not explore our folders."""
    folder = Path(path)
    if not caller.is_from_this_machine or not folder.is_absolute():
        return None
    try:
        tops = (top for top in (folder, *folder.parents) if (top / ".git").exists())
        return next((top for top in tops if top == folder or not _holds_many(str(top))), None)
    except OSError:
        return None


def _remote_of(top: Path | None) -> str | None:
    if top is None:
        return None
    config = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        config.read(_git_folder(top) / "config", encoding="utf-8")
    except (OSError, ValueError, configparser.Error):
        return None
    return normalize_remote(config.get('remote "origin"', "url", fallback=""))


def _git_folder(top: Path) -> Path:
    """Return the folder with `config`: for a linked work tree, that of its repository."""
    git = top / ".git"
    if git.is_dir():
        return git
    linked = (top / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()).resolve()
    common = linked / "commondir"
    return (
        (linked / common.read_text(encoding="utf-8").strip()).resolve()
        if common.exists()
        else linked
    )
