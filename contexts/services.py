"""Which context a request works in, and what its caller may use there."""

from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models
from django.db.models import Q

from contextd import callers, encryption, operations, prompts, resources
from contextd.callers import DEFAULT_CONTEXT, Caller, Entry, Principal
from contextd.errors import Invalid, NotAllowed, NotFound
from contextd.operations import Effect, Operation, Rate
from contextd.status import Unhealthy, health_check
from contexts import lookups
from contexts.lookups import ActiveContext
from contexts.models import MAX_NAME_LENGTH, Context, Grant, Permission, Variable, context_name

Named = TypeVar("Named", bound=models.Model)

LEVELS: tuple[callers.Permission, ...] = get_args(callers.Permission)
NEEDED: dict[Effect, callers.Permission] = {
    "read": "read",
    "write": "execute",
    "delete": "execute",
}


@health_check("context")
def probe() -> None:
    """Check that the context of requests that name none exists."""
    try:
        is_there = Context.objects.filter(name=DEFAULT_CONTEXT).exists()
    except DatabaseError:
        raise Unhealthy("contexts cannot be read; run manage.py migrate") from None
    if not is_there:
        raise Unhealthy(f"the context {DEFAULT_CONTEXT!r} is missing; create it again in the admin")


def enter(principal: Principal, name: str | None) -> Entry:
    """Return what the named context, or the principal's default, grants the principal.

    It is looked up for each call, so that a change applies to the next one.
    """
    chosen = name or principal.default_context or DEFAULT_CONTEXT
    context = lookups.context(chosen, principal.user_id) if is_name(chosen) else None
    if context is None:
        chosen = chosen[:MAX_NAME_LENGTH]
        raise NotFound(f"there is no context named {chosen!r}", context=chosen)
    return Entry(
        name=context.name,
        permission=permission_in(context, principal),
        tools=tuple(context.tools),
        resources=tuple(context.resources),
        prompts=tuple(context.prompts),
        projects=None if context.all_projects else frozenset(context.projects),
        rate=rate_of(context),
        needs_review=context.needs_review,
    )


def names_for(user_id: int) -> list[str]:
    """Return the names of the contexts that the user may enter."""
    user = get_user_model().objects.get(pk=user_id)
    active = Context.objects.filter(is_active=True)
    if not user.is_superuser:
        groups = user.groups.all()
        granted = Grant.objects.filter(Q(user=user) | Q(group__in=groups)).values("context")
        active = active.filter(Q(is_open=True) | Q(pk__in=granted))
    return list(active.order_by("name").values_list("name", flat=True))


def is_name(text: str) -> bool:
    try:
        context_name(text)
    except ValidationError:
        return False
    return len(text) <= MAX_NAME_LENGTH


def permission_in(context: ActiveContext, principal: Principal) -> callers.Permission:
    """Return the principal's highest permission there. Raise NotAllowed if there is none."""
    if principal.contexts is not None and context.name not in principal.contexts:
        raise NotAllowed(
            f"this token may not be used in the context {context.name!r}", context=context.name
        )
    granted = max(granted_in(context, principal), key=LEVELS.index, default=None)
    if granted is None:
        raise NotAllowed(
            f"you may not use the context {context.name!r}; ask its managers for a grant",
            context=context.name,
        )
    return "read" if principal.is_read_only else granted


def granted_in(context: ActiveContext, principal: Principal) -> Iterator[callers.Permission]:
    if principal.is_local:  # the owner of this machine, or anybody on it in single-user mode
        yield "manage"
    if context.visitor_id is None:
        return
    if context.is_visitor_superuser:
        yield "manage"
    if context.is_open:
        yield "execute"
    yield from (level for level in LEVELS if level in context.granted)


def rate_of(context: ActiveContext) -> Rate | None:
    if context.calls_per_second is None or context.calls_at_once is None:
        return None
    return Rate(context.calls_per_second, burst=context.calls_at_once)


def authorize(operation: Operation, caller: Caller) -> None:
    """Raise NotAllowed, which names what is missing, unless the caller may use the operation."""
    entry = caller.entry
    if not is_held(operation, entry):
        raise NotAllowed(
            f"the context {entry.name!r} does not contain the {operation.kind} {operation.name}",
            context=entry.name,
            name=operation.name,
        )
    needed = NEEDED[operation.effect]
    if LEVELS.index(entry.permission) < LEVELS.index(needed):
        raise NotAllowed(
            f"{operation.name} needs the permission {needed!r} in the context {entry.name!r}, "
            f"and you have {entry.permission!r}",
            context=entry.name,
            name=operation.name,
            needed=needed,
            had=entry.permission,
        )


def is_held(operation: Operation, entry: Entry) -> bool:
    if operation.kind == "resource":
        return bool(entry.resources)  # the reading operation checks which addresses
    if operation.kind == "prompt":
        return entry.has_prompt(operation.name, operation.canonical_name)
    return entry.has_tool(operation.name, operation.canonical_name)


def variables(caller: Caller) -> dict[str, str]:
    """Return the values of the caller's context, by name."""
    return {
        variable.name: readable(variable)
        for variable in Variable.objects.filter(context__name=caller.context)
    }


def readable(variable: Variable) -> str:
    try:
        return variable.value
    except encryption.Undecipherable:
        raise Invalid(
            f"the variable {variable.name} was saved under another CONTEXTD_SECRET_KEY; "
            "an admin has to enter it again",
            variable=variable.name,
        ) from None


def set_open(context: Context, *, is_open: bool) -> None:
    """Let everybody with an account use the context, or only those with a grant."""
    context.is_open = is_open
    context.save(update_fields=["is_open", "updated_at"])


def grant(context: Context, permission: Permission, *, user: str = "", group: str = "") -> Grant:
    """Give a user, or all members of a group, this permission in place of the previous one."""
    given, _ = Grant.objects.update_or_create(
        context=context, **holder(user, group), defaults={"permission": permission}
    )
    return given


def revoke(context: Context, *, user: str = "", group: str = "") -> None:
    """Remove a grant. Raise NotFound if there is none."""
    deleted, _ = Grant.objects.filter(context=context, **holder(user, group)).delete()
    if not deleted:
        raise NotFound(f"{user or group} has no grant in {context}")


def holder(user: str, group: str) -> dict[str, Any]:
    if user:
        return {"user": named_in_admin(get_user_model(), "username", user), "group": None}
    return {"user": None, "group": named_in_admin(Group, "name", group)}


def named_in_admin(model: type[Named], field: str, name: str) -> Named:
    """Return the user or group of that name. Raise NotFound, which says where to create it."""
    try:
        return named(model, field, name)
    except NotFound as error:
        kinds = str(model._meta.verbose_name_plural).capitalize()
        raise NotFound(f"{error.message}; create it in the admin, under {kinds}") from None


def named(model: type[Named], field: str, name: str) -> Named:
    """Return the record of that name. Raise NotFound if there is none."""
    found = model._default_manager.filter(**{field: name}).first()
    if found is None:
        raise NotFound(f"there is no {model._meta.verbose_name} named {name!r}")
    return found


def context_named(name: str) -> Context:
    return named(Context, "name", name)


def mistakes(context: Context) -> list[str]:
    """Return the likely mistakes in a context."""
    found = [
        *(f"{glob!r} matches no tool" for glob in context.tools if not is_tool(glob)),
        *(f"{glob!r} matches no resource" for glob in context.resources if not is_resource(glob)),
        *(f"{glob!r} matches no prompt" for glob in context.prompts if not is_prompt(glob)),
    ]
    if not (context.tools or context.resources or context.prompts):
        found.append("it contains no tool, no resource and no prompt")
    if not context.is_open and not context.grants.exists():
        found.append("only superusers may use it: it is not open and there is no grant")
    if not context.all_projects and not context.projects.exists():
        found.append("it contains no project, so only shared knowledge is visible in it")
    return found


def is_tool(glob: str) -> bool:
    some = Entry(tools=(glob,))
    return any(some.has_tool(one.name, one.canonical_name) for one in operations.available())


def is_resource(glob: str) -> bool:
    """Return whether a resource has this form; whether something is at the address can change."""
    some = Entry(resources=(glob,))
    address, _ = resources.split_glob(glob)
    return any(
        some.has_resource(one.template) or one.pattern.fullmatch(address)
        for one in resources.installed()
    )


def is_prompt(glob: str) -> bool:
    """Return whether a prompt or a family of prompts matches; a family can change."""
    is_fixed = any(Entry(prompts=(glob,)).has_prompt(one.name) for one in prompts.installed())
    is_made = any(glob.startswith(one.prefix) for one in prompts.families())
    some = Entry(prompts=(glob,))
    return (
        is_fixed
        or is_made
        or any(some.has_prompt(one.name, one.canonical_name) for one in prompts.provided())
    )
