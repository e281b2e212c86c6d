"""Nothing of a project is seen or changed in a context that does not hold it, by any operation.

The walk is complete: a new operation, resource or prompt fails here until the tables say how to ask
it for what belongs to a foreign project.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from contextd import operations, prompts, resources
from contexts.models import Context
from tests.contexts.conftest import Post
from tests.contexts.foreign import (
    ADDRESSES,
    ALSO,
    COMPLETIONS,
    ELSEWHERE,
    FOREIGN,
    MARK,
    PROMPTS,
    QUESTIONS,
    SHARED,
    WAITING,
    Fill,
    database,
    fill,
    token,
)
from tests.plain_http import answer_of, modern, open_session, rpc

__all__ = ["fill", "token"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_operation_resource_and_prompt_is_walked() -> None:
    named = {one.name for one in operations.installed()}
    templates = {one.template for one in resources.installed()}
    asked = {one.name for one in prompts.installed()}
    assert set(QUESTIONS) | ELSEWHERE == named - SHARED
    assert set(ADDRESSES) == templates - SHARED
    assert set(PROMPTS) == asked - SHARED
    assert named | templates | asked > SHARED
    assert set(COMPLETIONS) == {
        *(
            ("ref/resource", one.template, argument)
            for one in resources.installed()
            if one.template not in SHARED
            for argument in re.findall(r"\w+", "".join(re.findall(r"\{.*?\}", one.template)))
        ),
        *(
            ("ref/prompt", one.name, argument)
            for one in prompts.installed()
            if one.name not in SHARED
            for argument in one.request.model_fields
        ),
    }


ALL_QUESTIONS = [*QUESTIONS.items(), *ALSO]
READING = [one for one in ALL_QUESTIONS if operations.get(one[0]).effect == "read"]
CHANGING = [one for one in ALL_QUESTIONS if one not in READING and one[0] not in WAITING]


def test_a_foreign_project_is_neither_seen_nor_changed(
    fill: Fill, token: dict[str, str], post: Post, subtests: pytest.Subtests
) -> None:
    """Nothing changes, so that all questions can be asked about the same records."""
    before = database()

    for name, question in ALL_QUESTIONS:
        with subtests.test(name, question=question):
            answer = post(name, fill(question), token=token, context="ours")

            assert answer.status_code in (200, 403, 404), answer.content
            assert MARK not in answer.content.decode()
            assert database() == before


def test_where_the_project_is_held_all_is_seen(
    fill: Fill, token: dict[str, str], post: Post, subtests: pytest.Subtests
) -> None:
    for name, question in READING:
        with subtests.test(name, question=question):
            answer = post(name, fill(question), token=token, context="theirs")

            assert answer.status_code == 200, answer.content
            assert MARK in answer.content.decode()


@pytest.mark.parametrize(("name", "question"), CHANGING)
def test_where_the_project_is_held_it_is_changed(
    fill: Fill, token: dict[str, str], post: Post, name: str, question: dict[str, Any]
) -> None:
    before = database()

    answer = post(name, fill(question), token=token, context="theirs")

    assert answer.status_code == 200, answer.content
    assert database() != before


def test_a_diagnosis_shows_a_foreign_fix_only_where_the_project_is_held(
    fill: Fill, token: dict[str, str], post: Post
) -> None:
    asked = {"error_message": "BellError: bells out of tune"}

    ours, theirs = (
        post("troubleshoot", asked, token=token, context=name) for name in ("ours", "theirs")
    )

    assert (ours.status_code, theirs.status_code) == (200, 200)
    assert MARK not in ours.content.decode()
    assert MARK in theirs.content.decode()


def test_what_does_not_exist_and_what_is_foreign_look_alike(
    fill: Fill, token: dict[str, str], post: Post
) -> None:
    for name in ("checkpoint_get", "remediation_get", "skill_get"):
        foreign = fill(QUESTIONS[name])["id"]
        answers = [
            post(name, {"id": record_id}, token=token, context="ours").json()
            for record_id in (foreign, "999999")
        ]
        texts = [str(answer).replace(foreign, "ID").replace("999999", "ID") for answer in answers]
        assert texts[0] == texts[1]


def test_resources_show_only_what_is_held(
    fill: Fill, token: dict[str, str], http: httpx2.Client, subtests: pytest.Subtests
) -> None:
    def read(context: str, uri: str) -> str:
        return ask(http, {**token, "X-MCP-Context": context}, "resources/read", uri=uri)

    for template, address in ADDRESSES.items():
        with subtests.test(template):
            assert MARK not in read("ours", fill(address))
            assert MARK in read("theirs", fill(address))


def test_an_unreadable_resource_cannot_be_subscribed_to(
    fill: Fill, token: dict[str, str], http: httpx2.Client, subtests: pytest.Subtests
) -> None:
    def answers(context: str, uri: str) -> Iterator[Any]:
        session = open_session(http, {**token, "X-MCP-Context": context})
        for number, method in enumerate(("resources/read", "resources/subscribe")):
            response = http.post("/mcp", json=rpc(method, {"uri": uri}, number), headers=session)
            yield answer_of(response).get("error")

    for template, address in ADDRESSES.items():
        with subtests.test(template):
            of_reading, of_subscribing = answers("ours", fill(address))

            assert of_subscribing == of_reading
            assert list(answers("theirs", fill(address))) == [None, None]


def test_lists_and_prompts_show_only_what_is_held(
    fill: Fill, token: dict[str, str], http: httpx2.Client
) -> None:
    def ask_all(context: str) -> list[str]:
        headers = {**token, "X-MCP-Context": context}
        return [
            ask(http, headers, "resources/list"),
            ask(http, headers, "resources/templates/list"),
            *(
                ask(http, headers, "prompts/get", name=name, arguments=arguments)
                for name, arguments in PROMPTS.items()
            ),
        ]

    foreign = fill("checkpoint://{checkpoint}")
    for answer in ask_all("ours"):
        assert MARK not in answer
        assert FOREIGN not in answer.replace(f"saved yet for {FOREIGN}", "")
        assert foreign not in answer
    listed, _templates, resumed = ask_all("theirs")
    assert foreign in listed
    assert MARK in resumed


def test_completions_show_only_what_is_held(
    fill: Fill, token: dict[str, str], http: httpx2.Client
) -> None:
    ours, theirs = ({**token, "X-MCP-Context": name} for name in ("ours", "theirs"))

    for asked, value in COMPLETIONS.items():
        assert fill(value) not in completed(http, ours, *asked)
        assert fill(value) in completed(http, theirs, *asked)


def test_only_arguments_of_the_prompt_or_resource_are_completed(
    fill: Fill, token: dict[str, str], http: httpx2.Client
) -> None:
    Context.objects.filter(name="theirs").update(
        tools=[], prompts=["resume"], resources=["checkpoint://{checkpoint_id}"]
    )
    theirs = {**token, "X-MCP-Context": "theirs"}
    held = [("ref/prompt", "resume"), ("ref/resource", "checkpoint://{checkpoint_id}")]

    for kind, what in held:
        for argument in {argument for _, _, argument in COMPLETIONS}:
            values = completed(http, theirs, kind, what, argument)
            assert bool(values) == ((kind, what, argument) in COMPLETIONS)


def completed(
    http: httpx2.Client, headers: dict[str, str], kind: str, what: str, argument: str
) -> list[str]:
    answer = ask(
        http,
        headers,
        "completion/complete",
        ref={"type": kind, "uri" if kind == "ref/resource" else "name": what},
        argument={"name": argument, "value": ""},
    )
    values: list[str] = json.loads(answer)["result"]["completion"]["values"]
    return values


SKILLS: list[tuple[str, dict[str, Any]]] = [
    ("skills/list", {}),
    ("skills/get", {"uri": ADDRESSES["skill://{+path}"]}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "skill_tune-the-bells_{project}"}),
]


def test_skills_are_offered_only_where_they_are_held(
    fill: Fill, token: dict[str, str], http: httpx2.Client, subtests: pytest.Subtests
) -> None:
    def offered(context: str, method: str, question: dict[str, Any]) -> str:
        return ask(http, {**token, "X-MCP-Context": context}, method, **fill(question))

    for method, question in SKILLS:
        with subtests.test(method):
            assert MARK not in offered("ours", method, question)
            assert MARK in offered("theirs", method, question)


def ask(http: httpx2.Client, headers: dict[str, str], method: str, **params: Any) -> str:
    request = modern(method, **params)
    named = {"Mcp-Name": params["uri"]} if "uri" in params else {}
    sent = {**request["headers"], **named, **headers}
    answer = answer_of(http.post("/mcp", json=request["json"], headers=sent))
    assert answer.get("error", {}).get("code") in (None, -32602, -32603), answer
    return json.dumps(answer)
