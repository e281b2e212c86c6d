"""Chooses the next single check, and draws what follows from its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from troubleshoot.hypotheses import Check, Hypothesis

Outcome = Literal["as_expected", "not_as_expected", "unclear"]

SPEAKS_FOR, SPEAKS_AGAINST = 2.0, -2.5
"""What a check adds to the logarithm of the odds; not to find it weighs more than to find it."""

KNOWN = 0.25
"""Below that no hypothesis is called a cause, unless it stands."""

STANDS, AHEAD = 1.0, 1.5
"""These odds has a hypothesis that stands, and so far is it ahead of those not ruled out."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is left after some checks: the likeliest first, and what to look at next.

    `standing` is the one that is as good as proved; then there is nothing more to look at.
    """

    hypotheses: list[Hypothesis]
    ruled_out: list[Hypothesis]
    standing: Hypothesis | None
    next_check: Check | None

    @property
    def best(self) -> Hypothesis | None:
        """What is called the cause; None for an unknown error."""
        if self.standing or not self.hypotheses:
            return self.standing
        first = self.hypotheses[0]
        return first if first.probability >= KNOWN else None


def narrow(hypotheses: Sequence[Hypothesis], outcomes: Mapping[str, Outcome]) -> Narrowed:
    checks = [check for one in hypotheses for check in one.checks]
    gains = {one.id: _gain(one.id, checks, outcomes) for one in hypotheses}
    weighed = [one.model_copy(update={"odds": one.odds + gains[one.id]}) for one in hypotheses]
    ranked = sorted(weighed, key=lambda one: (-one.odds, one.id))
    left = [one for one in ranked if gains[one.id] > SPEAKS_AGAINST]
    ruled_out = [one for one in ranked if gains[one.id] <= SPEAKS_AGAINST]
    next_check = _next_check(left, outcomes)
    standing = _standing(left, gains, is_last=next_check is None)
    return Narrowed(left, ruled_out, standing, None if standing else next_check)


def _gain(hypothesis: str, checks: Sequence[Check], outcomes: Mapping[str, Outcome]) -> float:
    gain = 0.0
    for check in checks:
        outcome = outcomes.get(check.id, "unclear")
        if outcome != "unclear" and hypothesis in {check.about, check.rival}:
            speaks_for = (check.about == hypothesis) == (outcome == "as_expected")
            gain += SPEAKS_FOR if speaks_for else SPEAKS_AGAINST
    return gain


def _standing(
    left: Sequence[Hypothesis], gains: Mapping[str, float], *, is_last: bool
) -> Hypothesis | None:
    """The likeliest one for which a check spoke, when it is far ahead or there is no other."""
    if not left or gains[left[0].id] <= 0:
        return None
    best, *others = left
    is_ahead = all(best.odds - other.odds >= AHEAD for other in others)
    is_alone = is_last and not others
    return best if (best.odds >= STANDS and is_ahead) or is_alone else None


def _next_check(left: Sequence[Hypothesis], outcomes: Mapping[str, Outcome]) -> Check | None:
    """Of the likeliest that has one: its own first, then what tells it from those left."""
    ids = {one.id for one in left}
    for hypothesis in left:
        for check in hypothesis.checks:
            if check.id not in outcomes and {check.about, check.rival} - {""} <= ids:
                return check
    return None
