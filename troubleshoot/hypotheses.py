"""Form hypotheses: possible causes with evidence, checks and fixes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from contextd.search import terms
from remediations.models import Remediation
from remediations.services import Match as PastFix
from troubleshoot import commands, general, placeholders, signatures, weighing
from troubleshoot.matching import Match
from troubleshoot.models import Pattern
from troubleshoot.symptoms import Symptom

WORTH_NAMING = 0.05
MAX_HYPOTHESES = 5
MAX_SHARED_WORDS = 8
OF_PAST_FIX = "remediation:"
"""How ids of hypotheses begin that are made of a saved fix."""

NEARLY_THE_SAME = 0.6
_WORD = re.compile(r"[A-Za-z_][\w.-]*\w")


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


def with_your(placeholders: Sequence[str]) -> str:
    """Return what a sentence says after a command that the reader has to complete."""
    return f", with your value for {', '.join(placeholders)}," if placeholders else ""


def with_warning(prose: str) -> str:
    """Return the text with what its commands would destroy, if anything."""
    losses = "; ".join(commands.dangers_in_prose(prose))
    return f"{prose} (Careful: {losses}.)" if losses else prose


class Check(Part):
    """One thing to look at. Seen as expected it speaks for `about`, and against `rival` if any.

    `placeholders` are the values that the reader has to put into the command. `conclusive` is
    false where there are any, and where the outcome is the same whatever the cause is.
    `suggested_by` is the language model, if only that suggests the check.
    """

    id: str
    about: str
    run: str = ""
    expect: str
    rival: str = ""
    placeholders: list[str] = []
    conclusive: bool = True
    suggested_by: str = ""

    @property
    def sentence(self) -> str:
        if not self.run:
            return self.expect
        return f"Run `{self.run}`{with_your(self.placeholders)} and expect: {self.expect}"


class Action(Part):
    """A step of a fix; `losses` are what its commands would destroy.

    `placeholders` are the values that the reader has to put into the command. `suggested_by` is
    the language model, if only that suggests the step.
    """

    description: str
    command: str = ""
    placeholders: list[str] = []
    expected_outcome: str = ""
    destructive: bool = False
    losses: list[str] = []
    suggested_by: str = ""

    @property
    def safety_notes(self) -> str:
        notes = []
        if self.suggested_by:
            notes.append(f"Only {self.suggested_by} suggests this. Read it before you do it.")
        if self.destructive:
            losses = "; ".join(self.losses) or "it cannot be undone"
            notes.append(f"Careful: {losses}. Ask before you run it.")
        return " ".join(notes)


class Hypothesis(Part):
    """One possible cause; its `log_odds` come from its own evidence alone, not from its rivals.

    `suggested_by` is the language model, if only that names it.
    """

    id: str
    description: str
    root_cause: str
    # Sessions of earlier versions are kept with the second name.
    log_odds: Annotated[float, Field(validation_alias=AliasChoices("log_odds", "odds"))]
    evidence: list[str]
    category: str
    severity: str
    checks: list[Check] = []
    actions: list[Action] = []
    distinguishing: list[str] = []
    suggested_by: str = ""

    @property
    def conclusion(self) -> str:
        """The root cause, for answers that call it the cause, without the text of a past fix."""
        if self.suggested_by:
            return f"Only {self.suggested_by} suggests this: {with_warning(self.root_cause)}"
        return self.description if self.id.startswith(OF_PAST_FIX) else self.root_cause

    @property
    def probability(self) -> float:
        return weighing.probability(self.log_odds)

    @property
    def verification_steps(self) -> list[str]:
        return [*(check.sentence for check in self.checks if not check.rival), *self.distinguishing]


def form(symptom: Symptom, matches: Sequence[Match], fixes: Sequence[PastFix]) -> list[Hypothesis]:
    """Form one per root cause, the likeliest first; a past fix joins its pattern, if it has one."""
    likely = [m for m in matches if weighing.probability(m.log_odds) >= WORTH_NAMING][
        : 2 * MAX_HYPOTHESES
    ]
    cases = {match.pattern.pk: cases_of(match.pattern, fixes) for match in likely}
    joined = {fix.remediation.pk for of_pattern in cases.values() for fix in of_pattern}
    alone = [fix for fix in fixes if fix.remediation.pk not in joined]
    named = {match.pattern.key: match.pattern.title for match in likely}
    formed = [of_pattern(symptom, match, cases[match.pattern.pk], named) for match in likely]
    formed += _of_fixes(symptom, alone)
    return sorted(formed, key=lambda one: (-one.log_odds, one.id))[:MAX_HYPOTHESES]


def cases_of(pattern: Pattern, fixes: Sequence[PastFix]) -> list[PastFix]:
    """Return fixes of errors with a signature of the pattern, or nearly the words of its errors."""
    return [fix for fix in fixes if is_case(pattern, fix.remediation.error_message)]


def is_case(pattern: Pattern, error: str) -> bool:
    words = set(terms.terms(error))
    for example in pattern.errors:
        shared = set(terms.terms(example))
        if words and len(words & shared) / len(words | shared) > NEARLY_THE_SAME:
            return True
    return bool(signatures.found_in([error], signatures.compiled({pattern.pk: pattern.signatures})))


def of_pattern(
    symptom: Symptom, match: Match, cases: Sequence[PastFix], named: dict[str, str]
) -> Hypothesis:
    pattern = match.pattern
    values = _values_for(symptom, pattern)
    rivals = [rival for rival in pattern.confused_with if rival["id"] in named]
    return Hypothesis(
        id=pattern.key,
        description=pattern.title,
        root_cause=pattern.cause,
        log_odds=match.log_odds + weighing.log_odds_of_cases(cases),
        evidence=[*_evidence(symptom, match), *map(_describe_fix, cases)],
        category=pattern.category,
        severity=pattern.severity,
        checks=[*_confirming(pattern, values), *_distinguishing(pattern, rivals, named)],
        actions=_safe_first(_with_fixes(actions_of(pattern, values), cases)),
        distinguishing=[f"Rather {_of_rival(one, named)}" for one in rivals],
    )


def _values_for(symptom: Symptom, pattern: Pattern) -> dict[str, str]:
    """Find what the error has for the placeholders of the pattern."""
    texts = [text for step in (*pattern.confirm, *pattern.fix) for text in _texts_of(step)]
    return placeholders.values_for(
        placeholders.in_text("\n".join(texts)),
        facts=symptom.facts,
        captured=signatures.groups_in(symptom.texts, pattern.signatures),
        text="\n".join(signatures.searched(symptom.printed)),
    )


def _texts_of(step: Mapping[str, Any]) -> list[str]:
    return [step[part] for part in ("do", "run", "expect") if step.get(part)]


def _unfilled(step: Mapping[str, Any], values: Mapping[str, str]) -> list[str]:
    """Return the placeholders of a step that have no value, as they are shown."""
    names = placeholders.in_text("\n".join(_texts_of(step)))
    return [placeholders.shown(name) for name in names if name not in values]


def actions_of(pattern: Pattern, values: Mapping[str, str]) -> list[Action]:
    return [_action(step, values) for step in pattern.fix]


def _with_fixes(actions: Sequence[Action], fixes: Sequence[PastFix]) -> list[Action]:
    """Put past fixes before the actions, best rated first; those that failed come last."""
    rated = sorted(fixes, key=lambda fix: fix.scores.confidence, reverse=True)
    good = [_action_of_fix(fix) for fix in rated if not weighing.has_failed(fix.scores)]
    failed = [_action_of_fix(fix) for fix in rated if weighing.has_failed(fix.scores)]
    return [*good, *actions, *failed]


def _safe_first(actions: list[Action]) -> list[Action]:
    return sorted(actions, key=lambda action: action.destructive)


def _action(step: Mapping[str, Any], values: Mapping[str, str]) -> Action:
    command = placeholders.fill(step.get("run", ""), values)
    losses = list(commands.dangers(command))
    return Action(
        description=placeholders.fill(step["do"], values),
        command=command,
        placeholders=_unfilled(step, values),
        destructive=step["destructive"] or bool(losses),
        losses=losses,
    )


def _confirming(pattern: Pattern, values: Mapping[str, str]) -> Iterator[Check]:
    for number, check in enumerate(pattern.confirm, 1):
        unfilled = _unfilled(check, values)
        yield Check(
            id=f"{pattern.key}:{number}",
            about=pattern.key,
            run=placeholders.fill(check.get("run", ""), values),
            expect=placeholders.fill(check["expect"], values),
            placeholders=unfilled,
            conclusive=check.get("conclusive", True) and not unfilled,
        )


def _distinguishing(
    pattern: Pattern, rivals: Iterable[dict[str, str]], named: dict[str, str]
) -> Iterator[Check]:
    for rival in rivals:
        yield Check(
            id=f"{pattern.key}:or:{rival['id']}",
            about=rival["id"],
            expect=f"it is rather {_of_rival(rival, named)}",
            rival=pattern.key,
        )


def _of_rival(rival: dict[str, str], named: dict[str, str]) -> str:
    """Return the rival's name and its distinguishing sign, which begins with “there”."""
    return f"“{named[rival['id']]}”: {rival['tell']}"


def _evidence(symptom: Symptom, match: Match) -> Iterator[str]:
    evidence = match.evidence
    if evidence.signature:
        yield f"The text has the wording of this error: “{evidence.signature}”"
    if words := shared_words(symptom.read.text, match.text):
        yield f"Words in common with a known case: {', '.join(words)}"
    if evidence.same_kind:
        yield f"It is an error of the same kind: {symptom.kind}"
    if frame := symptom.frame:
        place = f"{frame.file}:{frame.line}" if frame.line else frame.file
        yield f"Raised under {frame.function or 'code'} in {place}"
    if evidence.names_technology:
        named = [one for one in match.pattern.technologies if symptom.names_one_of([one])]
        yield f"The error or its context names {', '.join(named)}"
    if evidence.fits_version:
        ranges = ", ".join(f"{name} {range}" for name, range in match.pattern.versions.items())
        yield f"The given version is one where it happens: {ranges}"
    if record := _record(match.pattern.worked, match.pattern.did_not_work):
        yield f"Its fix {record}"


def _record(worked: int, did_not_work: int) -> str:
    """Return how often a fix worked, or nothing if nobody has reported it."""
    reported = worked + did_not_work
    return f"worked in {worked} of {reported} reported cases" if reported else ""


def _record_of_fix(remediation: Remediation) -> str:
    """Return its ratings as the end of a sentence about it; empty without any."""
    parts = [_record(remediation.worked, remediation.did_not_work)]
    parts += ["was reported as outdated"] if remediation.outdated else []
    return ", ".join(filter(None, parts))


def shared_words(text: str, passage: str) -> list[str]:
    """Return the longest words that the text and the passage share, in the order of the text."""
    known = set(terms.terms(passage))
    words = dict.fromkeys(_WORD.findall(text))
    shared = [word for word in words if {*terms.terms(word)} & known and len(word) > 2]
    longest = set(sorted(shared, key=len, reverse=True)[:MAX_SHARED_WORDS])
    return [word for word in shared if word in longest]


def _describe_fix(fix: PastFix) -> str:
    remediation = fix.remediation
    verb = "Tried" if weighing.has_failed(fix.scores) else "Fixed"
    seen = f"remediation {remediation.pk}, seen {remediation.seen_count} times"
    known = ", ".join(filter(None, [seen, _record_of_fix(remediation)]))
    return f"{verb} before ({known}): {with_warning(_first_line(remediation.solution))}"


def _of_fixes(symptom: Symptom, fixes: Sequence[PastFix]) -> list[Hypothesis]:
    """Form a hypothesis for each fixed error: the best match, with its other fixes as evidence."""
    by_error: dict[str, list[PastFix]] = {}
    for fix in fixes:
        by_error.setdefault(fix.remediation.fingerprint, []).append(fix)
    return [_of_past_error(symptom, _best_first(same)) for same in by_error.values()]


def _best_first(fixes: Iterable[PastFix]) -> list[PastFix]:
    return sorted(fixes, key=lambda fix: weighing.log_odds_of_fix(fix.scores), reverse=True)


def _of_past_error(symptom: Symptom, fixes: Sequence[PastFix]) -> Hypothesis:
    best, *others = fixes
    remediation = best.remediation
    words = shared_words(symptom.read.text, remediation.error_message)
    evidence = [_describe_fix(best)]
    evidence += [f"Words in common: {', '.join(words)}"] if words else []
    evidence += ["Its stack is much like this one"] if best.scores.same_stack else []
    failed = weighing.has_failed(best.scores)
    past = "for which a fix was tried" if failed else "that was fixed"
    name = f"{OF_PAST_FIX}{remediation.pk}"
    return Hypothesis(
        id=name,
        description=f"The same as an error {past} before: {remediation}",
        root_cause=remediation.solution,
        log_odds=weighing.log_odds_of_fix(best.scores),
        evidence=[*evidence, *map(_describe_fix, others)],
        category=general.category_of(symptom.kind),
        severity=remediation.severity or "medium",
        checks=[
            Check(
                id=f"{name}:1",
                about=name,
                expect=f"it was printed under the same circumstances as: {remediation}",
            )
        ],
        actions=_safe_first(_with_fixes([], fixes)),
    )


def _action_of_fix(fix: PastFix) -> Action:
    losses = list(commands.dangers_in_prose(fix.remediation.solution))
    record = _record_of_fix(fix.remediation)
    return Action(
        description=fix.remediation.solution,
        expected_outcome=f"Before, it {record}" if record else "",
        destructive=bool(losses),
        losses=losses,
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
