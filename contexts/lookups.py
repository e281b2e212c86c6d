"""The two look-ups of every call, in SQL, since the ORM takes longer than the database."""

from dataclasses import dataclass
from datetime import datetime

from contextd import limits

BY_DIGEST = """
    SELECT token.id, token.name, token.user_id, token.is_read_only, token.all_contexts,
           ARRAY(
               SELECT context.name FROM contexts_token_contexts AS selectable
               JOIN contexts_context AS context ON context.id = selectable.context_id
               WHERE selectable.token_id = token.id
           ),
           preferred.name, token.revoked_at, token.expires_at, token.last_used_at, owner.is_active
    FROM contexts_token AS token
    JOIN auth_user AS owner ON owner.id = token.user_id
    LEFT JOIN contexts_context AS preferred ON preferred.id = token.default_context_id
    WHERE token.digest = %s
"""

BY_NAME = """
    SELECT context.name, context.is_open, context.tools, context.resources, context.prompts,
           context.all_projects,
           ARRAY(
               SELECT project_id FROM contexts_context_projects WHERE context_id = context.id
           ),
           context.calls_per_second, context.calls_at_once, context.needs_review,
           visitor.id, COALESCE(visitor.is_superuser, false),
           ARRAY(
               SELECT permission FROM contexts_grant
               WHERE context_id = context.id AND (user_id = visitor.id OR group_id IN (
                   SELECT group_id FROM auth_user_groups WHERE user_id = visitor.id
               ))
           )
    FROM contexts_context AS context
    LEFT JOIN auth_user AS visitor ON visitor.id = %s AND visitor.is_active
    WHERE context.name = %s AND context.is_active
"""


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A token, valid or not; the fields are the columns of BY_DIGEST."""

    id: int
    name: str
    user_id: int
    is_read_only: bool
    all_contexts: bool
    contexts: list[str]
    default_context: str | None
    revoked_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None
    is_user_active: bool


@dataclass(frozen=True, slots=True)
class ActiveContext:
    """A context and what it grants to one visitor; the fields are the columns of BY_NAME.

    `visitor_id` is None without an active account.
    """

    name: str
    is_open: bool
    tools: list[str]
    resources: list[str]
    prompts: list[str]
    all_projects: bool
    projects: list[int]
    calls_per_second: int | None
    calls_at_once: int | None
    needs_review: bool
    visitor_id: int | None
    is_visitor_superuser: bool
    granted: list[str]


def token(digest: str) -> KnownToken | None:
    return next((KnownToken(*row) for row in limits.rows(BY_DIGEST, [digest])), None)


def context(name: str, visitor_id: int | None) -> ActiveContext | None:
    return next((ActiveContext(*row) for row in limits.rows(BY_NAME, [visitor_id, name])), None)
