"""Finds the remediation that a new one repeats, and adds to it what the new one knows."""

from django.db.models import QuerySet
from django.utils import timezone

from contextd import limits
from remediations import reading
from remediations.models import MAX_TAGS, Remediation

MAX_COMPARED = 20
"""Records of the same fix that are compared with a new one."""


def find(new: Remediation) -> Remediation | None:
    """Return the same fix of the same error, if it is saved already."""
    same_fixes = Remediation.objects.filter(
        solution_digest=new.solution_digest, project=new.project
    )
    same = same_fixes.filter(fingerprint=new.fingerprint).first()
    return same or _with_or_without_stack(same_fixes, new)


def _with_or_without_stack(
    same_fixes: QuerySet[Remediation], new: Remediation
) -> Remediation | None:
    """Return a fix of this error if it was saved with a stack and this is not, or vice versa.

    A vague error needs its stack to be recognised.
    """
    alone = reading.read(new.error_message, "", new.error_type)
    if alone.is_vague:
        return None
    others = (
        same_fixes.filter(stack_trace="") if new.stack_trace else same_fixes.exclude(stack_trace="")
    )
    for other in others[:MAX_COMPARED]:
        read = reading.read(other.error_message, "", other.error_type)
        if read.fingerprint == alone.fingerprint:
            return other
    return None


def strengthen(known: Remediation, new: Remediation) -> list[str]:
    """Count it once more and add the facts it lacks. Return the names of what it gets.

    The stack is named but not added, since its text must be embedded, outside of transactions.
    Raises Stale if the remediation was changed or deleted meanwhile.
    """
    same = Remediation.objects.filter(
        pk=known.pk, fingerprint=known.fingerprint, solution_digest=known.solution_digest
    )
    if not same.select_for_update().exists():
        raise limits.Stale
    known.refresh_from_db()
    facts = {
        "severity": known.severity or new.severity,
        "context": known.context or new.context,
        "tags": list(dict.fromkeys([*known.tags, *new.tags]))[:MAX_TAGS],
    }
    added = [name for name in facts if facts[name] != getattr(known, name)]
    for name in added:
        setattr(known, name, facts[name])
    known.seen_count += 1
    known.last_seen_at = timezone.now()
    changed = [*added, "updated_at"] if added else []
    known.save(update_fields=["seen_count", "last_seen_at", *changed])
    return [*added, "stack_trace"] if new.stack_trace and not known.stack_trace else added
