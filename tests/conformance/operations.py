"""Tools of the suite that are made of what every operation can use."""

import asyncio
from typing import Annotated

from pydantic import Field

from contextd import changes
from contextd.callers import Caller
from contextd.conversations import Conversation, Form, Question
from contextd.errors import Invalid, Unsupported
from contextd.operations import Request, Result, operation
from contextd.validation import Text

PAUSE_SECONDS = 0.05


class Nothing(Request):
    """Fixture of the conformance suite."""


class Said(Result):
    text: str


class Seconds(Request):
    """Fixture: take that long."""

    seconds: Annotated[float, Field(description="How long")] = 1
    label: Annotated[Text, Field(max_length=100, description="For the suite's own use")] = ""


class File(Request):
    """Fixture: ask before a file is deleted."""

    filename: Annotated[Text, Field(max_length=100, description="Which")] = "a"


class Name(Form):
    name: str


class Agreement(Form):
    confirm: bool


@operation("test_trigger_tool_change", effect="read", timeout=5)
def change_tools(caller: Caller, request: Nothing) -> Said:
    changes.announce("tools")
    return Said(text="changed")


@operation("test_trigger_prompt_change", effect="read", timeout=5)
def change_prompts(caller: Caller, request: Nothing) -> Said:
    changes.announce("prompts")
    return Said(text="changed")


@operation("test_tool_with_progress", effect="read", timeout=5)
async def progress(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    for done in (0, 50, 100):
        await talk.report(done, 100)
        await asyncio.sleep(PAUSE_SECONDS)
    return Said(text="done")


@operation("test_input_required_result_elicitation", effect="read", timeout=5)
async def ask_name(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    person = await talk.ask("user_name", "What is your name?", Name)
    return Said(text=f"Hello, {person.name}!")


@operation("slow_compute", effect="read", timeout=60)
async def compute(caller: Caller, request: Seconds, talk: Conversation) -> Said:
    await talk.take_time()
    await asyncio.sleep(request.seconds)
    return Said(text="computed")


@operation("failing_job", effect="read", timeout=60)
async def fail(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    if not await talk.take_time():
        raise Unsupported("your client must be able to come back", ability="later results")
    await asyncio.sleep(PAUSE_SECONDS)
    raise Invalid("the job failed")


@operation("protocol_error_job", effect="read", timeout=60)
async def break_down(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    await talk.take_time()
    raise RuntimeError("a bug")


@operation("confirm_delete", effect="read", timeout=60)
async def confirm(caller: Caller, request: File, talk: Conversation) -> Said:
    await talk.take_time()
    agreement = await talk.ask("confirm", f"Delete {request.filename}?", Agreement)
    return Said(text=f"deleted: {agreement.confirm}")


@operation("multi_input", effect="read", timeout=60)
async def ask_twice_at_once(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    await talk.take_time()
    await talk.ask_all({"first": Question("Who?", Name), "second": Question("Sure?", Agreement)})
    return Said(text="answered")


@operation("test_tool_with_task", effect="read", timeout=60)
async def ask_first_then_work(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    person = await talk.ask("user_name", "What is your name?", Name)
    if not await talk.take_time():
        raise Unsupported("your client must be able to come back", ability="later results")
    return Said(text=f"Worked for {person.name}")
