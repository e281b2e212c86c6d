"""Nothing of a project is seen or changed in a context that does not hold it, by any operation.

The walk is complete: a new operation, resource or prompt fails here until the tables say how to ask
it for what belongs to a foreign project.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.apps import apps
from django.contrib.auth.models import User

from contextd import auth, operations, pipeline, prompts, resources
from contextd.callers import Caller
from contextd.models import Project, ProjectPath
from contexts.models import Context
from repositories import services as repositories
from tests.conftest import Call
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant, make_project
from tests.plain_http import answer_of, modern, open_session, rpc
from tests.troubleshoot.conftest import DISK_FULL, KNOWN
from troubleshoot import curating
from troubleshoot.models import Pattern

pytestmark = pytest.mark.django_db(transaction=True)

FOREIGN = "/w/secret"
OURS = "/w/shop"
# A word that stands in every record of the foreign project, and in no question.
MARK = "xylophone"

# How to ask each operation for what is foreign; {checkpoint} is the id of a foreign checkpoint,
# and so on.
QUESTIONS: dict[str, dict[str, Any]] = {
    "checkpoint_delete": {"id": "{checkpoint}"},
    "checkpoint_get": {"id": "{checkpoint}"},
    "checkpoint_list": {"project_path": FOREIGN},
    "checkpoint_resume": {"project_path": FOREIGN},
    "checkpoint_save": {"summary": "mine", "project_path": f"{FOREIGN}/src"},
    "checkpoint_search": {"query": "tuning the bells", "project_path": FOREIGN},
    "checkpoint_update": {"id": "{checkpoint}", "summary": "mine"},
    "remediation_delete": {"id": "{remediation}"},
    "remediation_feedback": {"id": "{remediation}", "outcome": "worked"},
    "remediation_get": {"id": "{remediation}"},
    "remediation_save": {
        "error_message": "bells out of tune",
        "error_type": "BellError",
        "solution": "mine",
        "project_path": FOREIGN,
    },
    "remediation_search": {"error_message": "bells out of tune", "min_score": 0},
    "remediation_update": {"id": "{remediation}", "solution": "mine"},
    "index_cancel": {"job_id": "{run}"},
    "index_repository": {"path": "{folder}"},
    "index_status": {"job_id": "{job}"},
    "repository_list": {},
    "repository_remove": {"path": "{folder}"},
    "repository_search": {"query": "tuning the bells"},
    "skill_apply": {"id": "{skill}"},
    "skill_create": {
        "name": "mine",
        "description": "mine",
        "content": "mine",
        "version": "1.0.0",
        "author": "ann",
        "category": "bells",
        "project_path": FOREIGN,
    },
    "skill_delete": {"id": "{skill}"},
    "skill_get": {"id": "{skill}"},
    "skill_history": {"id": "{skill}"},
    "skill_list": {},
    "skill_restore": {"id": "{skill}", "version": "1.0.0"},
    "skill_search": {"query": "tuning the bells"},
    "skill_update": {"id": "{skill}", "content": "mine"},
    "troubleshoot_continue": {"session_id": "{session}", "check": "{check}", "outcome": "unclear"},
    "troubleshoot_feedback": {"session_id": "{session}", "worked": True, "fixed_by": "mine"},
}
# More ways to ask some of them.
ALSO: list[tuple[str, dict[str, Any]]] = [
    ("checkpoint_list", {}),
    ("checkpoint_resume", {"id": "{checkpoint}"}),
    ("checkpoint_search", {"query": "tuning the bells"}),
    (
        "checkpoint_save",
        {
            "summary": "mine",
            "project_path": "/w/elsewhere",
            "context": {"git_remote": "https://example.com/acme/secret"},
        },
    ),
]
SHARED = {
    "list_patterns",
    "pattern://{pattern_id}",
    "status",
    "threat_checklist",
    "threat_get",
    "threat_list",
    "threat_review",
    "threat://{threat_id}",
    "threats_for_files",
    "tmkb_query",
    "upstream://{namespace}/{+uri}",
}
# Figures show no word of what is foreign: their own test asks as a stranger. A diagnosis is kept
# whatever it shows: it has a test below.
ELSEWHERE = {"analytics_get", "troubleshoot"}
# A run that is not refused waits for a worker, which no test here has.
WAITING = {"index_repository"}
ADDRESSES = {
    "checkpoint://{checkpoint_id}": "checkpoint://{checkpoint}",
    "checkpoint://recent{?project_path,tag}": f"checkpoint://recent?project_path={FOREIGN}",
    "remediation://{remediation_id}": "remediation://{remediation}",
    "skill://{+path}": "skill://project.{project}/tune-the-bells/SKILL.md",
}
PROMPTS: dict[str, dict[str, str]] = {"resume": {"project_path": FOREIGN}}
# What each argument of a prompt or of a form of address is completed to: {checkpoint} or a mark.
COMPLETIONS = {
    ("ref/resource", "checkpoint://{checkpoint_id}", "checkpoint_id"): "{checkpoint}",
    ("ref/resource", "checkpoint://recent{?project_path,tag}", "project_path"): FOREIGN,
    ("ref/resource", "checkpoint://recent{?project_path,tag}", "tag"): MARK,
    ("ref/resource", "remediation://{remediation_id}", "remediation_id"): "{remediation}",
    ("ref/resource", "skill://{+path}", "path"): "project.{project}/tune-the-bells/SKILL.md",
    ("ref/prompt", "resume", "project_path"): FOREIGN,
    ("ref/prompt", "resume", "tag"): MARK,
}

Fill = Callable[[Any], Any]


@pytest.fixture
def fill(call: Call, caller: Caller, ann: User, tmp_path: Path) -> Fill:
    """Save a record of each kind in the foreign project; puts their ids into a question."""
    make_project(OURS)
    ids = save_foreign(call)
    ids |= {"folder": str(tmp_path), **index_foreign(tmp_path, caller), **diagnose(caller, ann)}

    def fill(question: Any) -> Any:
        text = json.dumps(question)
        for kind, record_id in ids.items():
            text = text.replace(f"{{{kind}}}", record_id)
        return json.loads(text)

    return fill


def save_foreign(call: Call) -> dict[str, str]:
    """Return the ids of the saved records."""
    ids = {
        "checkpoint": call(
            "checkpoint_save",
            summary=f"{MARK}: tuning the bells",
            description=f"{MARK} {MARK}",
            project_path=FOREIGN,
            tags=[MARK],
            context={"git_remote": "https://example.com/acme/secret", "note": MARK},
        ).id,
        "remediation": call(
            "remediation_save",
            error_message=f"{MARK}: bells out of tune",
            error_type="BellError",
            solution=f"{MARK}: tune them",
            project_path=FOREIGN,
        ).id,
        "skill": call(
            "skill_create",
            name="Tune the bells",
            description=f"{MARK}: tuning the bells",
            content=MARK,
            version="1.0.0",
            author="ann",
            category="bells",
            project_path=FOREIGN,
        ).id,
        "project": str(Project.objects.get(paths__path=FOREIGN).pk),
    }
    call("skill_update", id=ids["skill"], tags=[MARK], note=MARK)
    return ids


def index_foreign(folder: Path, caller: Caller) -> dict[str, str]:
    """Index a folder of the foreign project; the ids of that job, and of a run that goes on."""
    (folder / "bells.py").write_text(f"def tuning_the_bells():\n    return '{MARK}'\n")
    ProjectPath.objects.create(project=Project.objects.get(paths__path=FOREIGN), path=str(folder))
    started = repositories.begin(
        dataclasses.replace(caller, is_from_this_machine=True),
        path=str(folder),
        include_patterns=["*.py", MARK],
        exclude_patterns=[],
        max_file_size=1000,
        queued=False,
    )
    repositories.index(started.job_id)
    repository = repositories.outcome(caller, started.job_id).repository
    run = repositories.submit(repository, caller.principal, queued=False)
    return {"job": str(started.job_id), "run": str(run.job_id)}


def diagnose(caller: Caller, user: User) -> dict[str, str]:
    """Return the ids of a diagnosis that the user got in the context `theirs`, and of its check."""
    curating.save(Pattern(key="disk-full", **KNOWN["disk-full"]))
    theirs = dataclasses.replace(
        caller,
        principal=auth.user_named(user.username).name,
        entry=dataclasses.replace(caller.entry, name="theirs"),
    )
    asked = {"error_message": f"{DISK_FULL} {MARK}", "mode": "guided"}
    found: Any = pipeline.call("troubleshoot", asked, theirs)
    return {"session": found.session_id, "check": found.next_check.id}


@pytest.fixture
def token(fill: Fill, ann: User, make_context: MakeContext, token_of: MakeToken) -> dict[str, str]:
    """Return the headers of a user who may execute in `ours` and `theirs`."""
    for name, path in (("ours", OURS), ("theirs", FOREIGN)):
        context = make_context(name, projects=(Project.objects.get(paths__path=path),))
        grant(context, ann)
    return token_of(ann)


def database() -> dict[str, list[Any]]:
    """Return all stored rows except those that every call writes."""
    noted = {"contexts.AuditEntry", "contexts.Token"}
    return {
        model._meta.label: sorted(model._base_manager.values_list(), key=repr)
        for model in apps.get_models()
        if model._meta.label not in noted
    }


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
