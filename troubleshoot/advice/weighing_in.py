"""What a language model says beside what is known: it may strengthen a hypothesis or add one."""

from collections.abc import Sequence

from troubleshoot import commands, general
from troubleshoot.advice.schema import Advice, Suggestion
from troubleshoot.hypotheses import MAX_HYPOTHESES, Action, Check, Hypothesis

LOG_ODDS = {"low": -1.8, "medium": -0.8, "high": 0.0}
"""Of a cause that only the model names; it is never more likely than not."""

AGREEING = {"low": 0.0, "medium": 0.4, "high": 0.8}
"""What it adds to the odds of a known case."""


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
    actions = [_action(fix.description, fix.command) for fix in suggestion.fixes]
    return Hypothesis(
        id=name,
        description=suggestion.description,
        root_cause=suggestion.root_cause,
        log_odds=LOG_ODDS[suggestion.likelihood],
        evidence=[f"Only {model} says so, from no known case", *suggestion.reasons],
        category=general.category_of(kind),
        severity="medium",
        checks=[
            Check(id=f"{name}:{place}", about=name, run=_harmless(look.run), expect=look.expect)
            for place, look in enumerate(suggestion.checks, 1)
        ],
        actions=sorted(actions, key=lambda action: action.destructive),
    )


def _harmless(command: str) -> str:
    """A check that would destroy something is left to the reader's eyes."""
    return "" if commands.dangers(command) else command


def _action(description: str, command: str) -> Action:
    losses = list(
        dict.fromkeys([*commands.dangers(command), *commands.dangers_in_prose(description)])
    )
    return Action(description=description, command=command, destructive=bool(losses), losses=losses)
