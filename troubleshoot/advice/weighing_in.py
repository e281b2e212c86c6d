"""Add the opinion of a language model: it may strengthen a known hypothesis or add a new one."""

from collections.abc import Sequence

from troubleshoot import commands, general
from troubleshoot.advice import looking
from troubleshoot.advice.schema import Advice, Fix, Suggestion
from troubleshoot.hypotheses import MAX_HYPOTHESES, Action, Check, Hypothesis, with_warning

LOG_ODDS = {"low": -1.8, "medium": -0.8, "high": 0.0}
"""Weights of a cause that only the model names; it is never more likely than not."""

AGREEING = {"low": 0.0, "medium": 0.4, "high": 0.8}
"""Weights that are added to the log odds of a known case."""


def with_advice(
    hypotheses: Sequence[Hypothesis], advice: Advice, *, model: str, kind: str | None
) -> list[Hypothesis]:
    """Return the hypotheses, the likeliest first; a repeated suggestion does not count."""
    known = {one.id: one for one in hypotheses}
    weighed = dict(known)
    for number, suggestion in enumerate(advice.suggestions, 1):
        same = known.pop(suggestion.known_id or "", None)
        if same:
            weighed[same.id] = _agreed(same, suggestion, model)
        elif suggestion.known_id not in weighed:
            added = _new(number, suggestion, model, kind)
            weighed[added.id] = added
    return sorted(weighed.values(), key=lambda one: (-one.log_odds, one.id))[: MAX_HYPOTHESES + 1]


def _agreed(hypothesis: Hypothesis, suggestion: Suggestion, model: str) -> Hypothesis:
    reasons = [f"{model} agrees: {reason}" for reason in suggestion.reasons[:2]] or [
        f"{model} agrees"
    ]
    log_odds = hypothesis.log_odds + AGREEING[suggestion.likelihood]
    return hypothesis.model_copy(
        update={"log_odds": log_odds, "evidence": [*hypothesis.evidence, *reasons]}
    )


def _new(number: int, suggestion: Suggestion, model: str, kind: str | None) -> Hypothesis:
    name = f"model:{number}"
    actions = [_action(fix, model) for fix in suggestion.fixes]
    return Hypothesis(
        id=name,
        description=suggestion.description,
        root_cause=suggestion.root_cause,
        log_odds=LOG_ODDS[suggestion.likelihood],
        evidence=[
            f"Only {model} says so, from no known case",
            *(f"{model}: {reason}" for reason in suggestion.reasons),
        ],
        category=general.category_of(kind),
        severity="medium",
        checks=[
            Check(
                id=f"{name}:{place}",
                about=name,
                run=look.run if looking.only_looks(look.run) else "",
                expect=with_warning(look.expect),
                suggested_by=model,
            )
            for place, look in enumerate(suggestion.checks, 1)
        ],
        actions=sorted(actions, key=lambda action: action.destructive),
        suggested_by=model,
    )


def _action(fix: Fix, model: str) -> Action:
    dangers = [*commands.dangers(fix.command), *commands.dangers_in_prose(fix.description)]
    return Action(
        description=fix.description,
        command=fix.command,
        destructive=bool(dangers),
        losses=list(dict.fromkeys(dangers)),
        suggested_by=model,
    )
