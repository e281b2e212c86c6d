"""Run in an environment of its own: the agent of the documentation, with a model from a script."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

EXAMPLES = Path(__file__).parents[2] / "docs/examples"


class ScriptedModel(GenericFakeChatModel):  # type: ignore[misc]  # its package is not in this one
    """It knows beforehand which tools it will call."""

    def bind_tools(self, tools: Any, **options: Any) -> "ScriptedModel":
        return self


def script(calls: list[dict[str, Any]]) -> Iterator[Any]:
    for number, call in enumerate(calls):
        yield AIMessage(content="", tool_calls=[{**call, "id": str(number)}])
    yield AIMessage(content="done")


def main(address: str, calls: str) -> None:
    sys.path.append(str(EXAMPLES))
    from langgraph_agent import converse

    model = ScriptedModel(messages=script(json.loads(calls)))
    messages = asyncio.run(converse(model, "Do as you were told", address))
    sys.stdout.write(json.dumps([[one.type, str(one.content)] for one in messages]))


if __name__ == "__main__":
    main(*sys.argv[1:])
