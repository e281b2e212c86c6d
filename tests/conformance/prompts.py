"""Prompts of the suite."""

from collections.abc import Callable

from mcp import types

from tests.conformance.content import STRING, embedded, image, text
from tests.conformance.rounds import accepted, need, question

Arguments = dict[str, str]
Build = Callable[[Arguments], list[types.ContentBlock]]

ASKING = "test_input_required_result_prompt"

BUILD: dict[str, Build] = {
    "test_simple_prompt": lambda _: [text("This is a simple prompt for testing.")],
    "test_prompt_with_arguments": lambda given: [
        text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
    ],
    "test_prompt_with_embedded_resource": lambda given: [
        embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
    ],
    "test_prompt_with_image": lambda _: [image(), text("Please analyze the image above.")],
}
ARGUMENTS = {
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
}

PROMPTS = [
    types.Prompt(
        name=name,
        description=f"Fixture {name}",
        arguments=[
            types.PromptArgument(name=argument, description=argument, required=True)
            for argument in ARGUMENTS.get(name, [])
        ],
    )
    for name in (*BUILD, ASKING)
]


def get(
    params: types.GetPromptRequestParams,
) -> types.GetPromptResult | types.InputRequiredResult | None:
    if params.name == ASKING:
        return get_asking(params)
    if params.name not in BUILD:
        return None
    return messages(BUILD[params.name](params.arguments or {}))


def get_asking(
    params: types.GetPromptRequestParams,
) -> types.GetPromptResult | types.InputRequiredResult:
    context = accepted(params, "user_context", "context")
    if context is None:
        asked = question("What context should the prompt use?", context=STRING)
        return need({"user_context": asked})
    return messages([text(f"context: {context}")])


def messages(blocks: list[types.ContentBlock]) -> types.GetPromptResult:
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=block) for block in blocks]
    )
