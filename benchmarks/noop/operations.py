from contextd.callers import Caller
from contextd.operations import Request, Result, operation


class Nothing(Request):
    """Do nothing."""


class Done(Result):
    text: str


@operation("noop", effect="read", timeout=10, atomic=False)
def noop(caller: Caller, request: Nothing) -> Done:
    return Done(text="ok")
