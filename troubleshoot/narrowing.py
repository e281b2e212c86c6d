"""Chooses the next single check, and draws the conclusion from its outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from troubleshoot import weighing
from troubleshoot.hypotheses import Check, Hypothesis

Outcome = Literal["as_expected", "not_as_expected", "unclear"]

SUPPORTS, CONTRADICTS = 2.0, -2.5
"""What a check adds to the logarithm of the odds; not to find it weighs more than to find it."""

INCONCLUSIVE = 0.3
"""What a check adds or takes whose command is incomplete, or cannot give another outcome."""

KNOWN = 0.4
"""A hypothesis of a lower probability is not called a cause, unless it stands."""

STANDS, AHEAD = 1.0, 1.5
"""A hypothesis stands from these log-odds on, when it is so far ahead of those not ruled out."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The hypotheses left after some checks, the likeliest first, and the next check.

    `standing` is the one that is as good as proved; then no check is left to make.
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

    @property
    def confidence(self) -> float:
        """How sure the first hypothesis is: its probability, by its share of the odds of all.

        So a single weak match stays weak, and each of n causes that are as likely gets a part.
        Rivals of one that stands do not count.
        """
        if self.standing:
            return self.standing.probability
        if not self.hypotheses:
            return 0.0
        first, *others = (weighing.odds(one.log_odds) for one in self.hypotheses)
        return self.hypotheses[0].probability * first / (first + sum(others))


def narrow(hypotheses: Sequence[Hypothesis], outcomes: Mapping[str, Outcome]) -> Narrowed:
    checks = [check for one in hypotheses for check in one.checks]
    gains = {one.id: _gain(one.id, checks, outcomes) for one in hypotheses}
    weighed = [
        one.model_copy(update={"log_odds": one.log_odds + gains[one.id]}) for one in hypotheses
    ]
    ranked = sorted(weighed, key=lambda one: (-one.log_odds, one.id))
    left = [one for one in ranked if gains[one.id] > CONTRADICTS]
    ruled_out = [one for one in ranked if gains[one.id] <= CONTRADICTS]
    next_check = _next_check(left, outcomes)
    standing = _standing(left, checks, outcomes, is_last=next_check is None)
    return Narrowed(left, ruled_out, standing, None if standing else next_check)


def _gain(hypothesis: str, checks: Iterable[Check], outcomes: Mapping[str, Outcome]) -> float:
    gain = 0.0
    for check in checks:
        outcome = outcomes.get(check.id, "unclear")
        if outcome != "unclear" and hypothesis in {check.about, check.rival}:
            supports = (check.about == hypothesis) == (outcome == "as_expected")
            gain += _weight(check, supports=supports)
    return gain


def _weight(check: Check, *, supports: bool) -> float:
    if not check.conclusive:
        return INCONCLUSIVE if supports else -INCONCLUSIVE
    return SUPPORTS if supports else CONTRADICTS


def _standing(
    left: Sequence[Hypothesis],
    checks: Sequence[Check],
    outcomes: Mapping[str, Outcome],
    *,
    is_last: bool,
) -> Hypothesis | None:
    """Return the likeliest if a conclusive check supports it, and it is far ahead or alone.

    An unlikely one does not stand only because the sign of its rival is missing.
    """
    conclusive = [check for check in checks if check.conclusive]
    if not left or _gain(left[0].id, conclusive, outcomes) <= 0:
        return None
    best, *others = left
    is_ahead = all(best.log_odds - other.log_odds >= AHEAD for other in others)
    is_known = best.probability >= KNOWN or _is_confirmed(best, conclusive, outcomes)
    is_alone = is_last and not others and is_known
    return best if (best.log_odds >= STANDS and is_ahead) or is_alone else None


def _is_confirmed(
    hypothesis: Hypothesis, checks: Iterable[Check], outcomes: Mapping[str, Outcome]
) -> bool:
    seen = [check.about for check in checks if outcomes.get(check.id) == "as_expected"]
    return hypothesis.id in seen


def _next_check(left: Sequence[Hypothesis], outcomes: Mapping[str, Outcome]) -> Check | None:
    """Choose one of the likeliest that has any: a conclusive one first, else in their order.

    Its own come before those that exclude a rival.
    """
    ids = {one.id for one in left}
    for hypothesis in left:
        for check in in_order_of_use(hypothesis.checks):
            if check.id not in outcomes and {check.about, check.rival} - {""} <= ids:
                return check
    return None


def in_order_of_use(checks: Iterable[Check]) -> list[Check]:
    """Return a hypothesis' own conclusive checks first, then its others, then those of rivals."""
    return sorted(checks, key=lambda check: (bool(check.rival), not check.conclusive))
