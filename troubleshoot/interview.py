"""Conduct a diagnosis in each mode; functions that wait for a person or a model are coroutines."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from django.conf import settings

from contextd import limits
from contextd.callers import Caller
from contextd.conversations import Conversation, Form
from contextd.errors import Declined, Invalid, Unsupported
from troubleshoot import advice, services
from troubleshoot.hypotheses import Check, with_your
from troubleshoot.models import Diagnosis
from troubleshoot.narrowing import Outcome
from troubleshoot.services import Answer, ErrorReport
from troubleshoot.similar import HIGH

Mode = Literal["auto", "interactive", "guided"]

MAX_QUESTIONS = 8
NOBODY_ASKED = "No person can be asked here: go on with troubleshoot_continue."
ONLY_THE_MODEL = "Only the language model names this cause: confirm it before you act."
UNADVISED = "this is what the knowledge base says."
DECLINED = "The person did not answer: go on with troubleshoot_continue."
UNANSWERED = "The person did not answer in time: go on with troubleshoot_continue."

RESERVED_SECONDS = 5
"""The time to store the session after an answer, or without one."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A stored answer; `is_guided` if it continues with a check."""

    answer: Answer
    diagnosis: Diagnosis
    is_guided: bool


class Seen(Form):
    seen: Literal["yes", "no", "cannot tell"]


OUTCOMES: dict[str, Outcome] = {
    "yes": "as_expected",
    "no": "not_as_expected",
    "cannot tell": "unclear",
}


async def troubleshoot(caller: Caller, report: ErrorReport, talk: Conversation) -> StoredAnswer:
    """Store the session at the end only: a question to the person may restart the run."""
    answer = await talk.do(partial(services.diagnose, caller, report))
    if report.mode == "interactive":
        answer = await asked(answer, talk)
    answer = await advised(answer)
    diagnosis = await talk.do(partial(services.keep, caller, answer))
    return StoredAnswer(answer, diagnosis, is_guided=report.mode != "auto")


async def advised(answer: Answer) -> Answer:
    """Add the opinion of the language model on an unclear error, if it gives a usable one."""
    seconds = seconds_left()
    is_clear = answer.narrowed.standing is not None or answer.confidence >= HIGH
    if is_clear or seconds <= 0 or not advice.is_configured():
        return answer
    report, symptom = answer.report, answer.symptom
    try:
        given = await advice.ask(symptom, report.context, answer.hypotheses, seconds)
    except advice.Unhelpful as error:
        return answer.noticing(f"The language model {error}: {UNADVISED}")
    model = settings.ENVIRONMENT.llm_model
    formed = advice.with_advice(answer.hypotheses, given, model=model, kind=symptom.kind)
    answer = replace(answer, hypotheses=formed)
    is_alone = answer.best is not None and answer.best.suggested_by
    return answer.noticing(ONLY_THE_MODEL if is_alone else None)


async def asked(answer: Answer, talk: Conversation) -> Answer:
    """Ask the person check by check, until one hypothesis is confirmed or the time is up."""
    try:
        async with asyncio.timeout(seconds_left()):
            while (check := answer.narrowed.next_check) and len(answer.outcomes) < MAX_QUESTIONS:
                outcome = await ask(check, talk)
                answer = replace(answer, outcomes={**answer.outcomes, check.id: outcome})
    except Unsupported:
        return answer.noticing(NOBODY_ASKED)
    except (Declined, Invalid):
        return answer.noticing(DECLINED)
    except TimeoutError:
        return answer.noticing(UNANSWERED)
    return answer


def seconds_left() -> float:
    """Return how long a person or a model may take."""
    return limits.time_left() - RESERVED_SECONDS


async def ask(check: Check, talk: Conversation) -> Outcome:
    instruction = (
        f"Run `{check.run}`{with_your(check.placeholders).rstrip(',')}. " if check.run else ""
    )
    question = f"{instruction}Do you see this: {check.expect}?"
    form = await talk.ask(check.id, question, Seen)
    return OUTCOMES[form.seen]
