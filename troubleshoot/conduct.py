"""How a diagnosis goes in each mode; what waits for a person or a language model is a coroutine."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from django.conf import settings

from contextd.callers import Caller
from contextd.conversations import Conversation, Form
from contextd.errors import Declined, Invalid, Unsupported
from troubleshoot import advice, services
from troubleshoot.hypotheses import Check, with_your
from troubleshoot.models import Diagnosis
from troubleshoot.narrowing import Outcome
from troubleshoot.services import Answer, Told
from troubleshoot.similar import HIGH

Mode = Literal["auto", "interactive", "guided"]

MOST_QUESTIONS = 8
NOBODY_ASKED = "No person can be asked here: go on with troubleshoot_continue."
UNADVISED = "this is what the knowledge base says."
DECLINED = "The person did not answer: go on with troubleshoot_continue."


@dataclass(frozen=True, slots=True)
class Conducted:
    """An answer that is kept; `is_guided` says that it goes on with a check."""

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


async def troubleshoot(caller: Caller, told: Told, talk: Conversation) -> Conducted:
    """Kept at the end only, since a question to the person may have it run from the start again."""
    answer = await talk.do(partial(services.diagnose, caller, told))
    if told.mode == "interactive":
        answer = await asked(answer, talk)
    elif advice.is_configured() and answer.confidence < HIGH:
        answer = await advised(answer)
    diagnosis = await talk.do(partial(services.keep, caller, answer))
    return Conducted(answer, diagnosis, is_guided=told.mode != "auto")


async def advised(answer: Answer) -> Answer:
    """With the opinion of the language model; without, where it gives none that can be used."""
    told, symptom = answer.told, answer.symptom
    try:
        given = await advice.ask(symptom, told.context, answer.hypotheses)
    except advice.Unhelpful as error:
        return answer.noticing(f"The language model {error}: {UNADVISED}")
    model = settings.ENVIRONMENT.llm_model
    formed = advice.with_advice(answer.hypotheses, given, model=model, kind=symptom.kind)
    return replace(answer, hypotheses=formed)


async def asked(answer: Answer, talk: Conversation) -> Answer:
    """Ask the person one check after the other, until one hypothesis stands."""
    try:
        while (check := answer.narrowed.next_check) and len(answer.outcomes) < MOST_QUESTIONS:
            outcome = await ask(check, talk)
            answer = replace(answer, outcomes={**answer.outcomes, check.id: outcome})
    except Unsupported:
        return answer.noticing(NOBODY_ASKED)
    except (Declined, Invalid):
        return answer.noticing(DECLINED)
    return answer


async def ask(check: Check, talk: Conversation) -> Outcome:
    instruction = (
        f"Run `{check.run}`{with_your(check.placeholders).rstrip(',')}. " if check.run else ""
    )
    question = f"{instruction}Do you see this: {check.expect}?"
    form = await talk.ask(check.id, question, Seen)
    return OUTCOMES[form.seen]
