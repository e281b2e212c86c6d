from contextd import changes
from contextd.callers import Caller
from contextd.operations import Request, Result, operation


class Nothing(Request):
    """Fixture: say that a list has changed."""


class Done(Result):
    pass


@operation("test_trigger_tool_change", effect="read", timeout=5)
def change_tools(caller: Caller, request: Nothing) -> Done:
    changes.announce("tools")
    return Done()


@operation("test_trigger_prompt_change", effect="read", timeout=5)
def change_prompts(caller: Caller, request: Nothing) -> Done:
    changes.announce("prompts")
    return Done()
