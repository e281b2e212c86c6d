"""Skills as MCP serves them: as folders of resources, and as prompts."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.management import call_command
from mcp import types

from contextd import changes, projects, prompts
from contextd.bus import Change
from contextd.callers import Caller, Entry
from contextd.models import Project
from contexts.models import Context
from skills.models import Skill, State
from tests.clients import VERSIONS, over_http
from tests.conftest import Call
from tests.plain_http import answer_of, modern, open_session, rpc
from tests.server import Server
from tests.skills.conftest import Create
from tests.skills.packages import FORMS, document, write

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

EXTENSION = "io.modelcontextprotocol/skills"
ROOT = "skill://pdf-forms"


@pytest.fixture
def forms(tmp_path: Path, warm_model: None) -> Skill:
    """A skill with files in folders of folders."""
    call_command("skills", "import", write(tmp_path / "pdf-forms", FORMS), verbosity=0)
    return Skill.objects.get()


def ask(http: httpx2.Client, method: str, headers: Any = None, **params: Any) -> Any:
    request = modern(method, **params)
    request["headers"] |= headers or {}
    response = http.post("/mcp", **request).json()
    return response.get("result") or response["error"]


def test_the_extension_is_declared(http: httpx2.Client) -> None:
    capabilities = ask(http, "server/discover")["capabilities"]

    assert capabilities["extensions"][EXTENSION] == {"directoryRead": True}
    assert "resources" in capabilities


def test_an_entry_lists_every_file_with_its_digest(http: httpx2.Client, forms: Skill) -> None:
    listed = ask(http, "skills/list")
    got = ask(http, "skills/get", uri=f"{ROOT}/SKILL.md")

    (entry,) = listed["skills"]
    assert entry == got["skill"]
    assert entry["uri"] == f"{ROOT}/SKILL.md"
    assert entry["frontmatter"]["license"] == "Apache-2.0"
    assert entry["frontmatter"]["metadata"]["reviewed"] == "2026-01-31"
    assert {file["uri"]: (file["digest"], file["size"]) for file in entry["resources"]} == {
        f"{ROOT}/{path}": (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))
        for path, content in FORMS.items()
    }
    for result in (listed, got):
        assert (result["resultType"], result["cacheScope"], result["ttlMs"]) == (
            "complete",
            "private",
            0,
        )
    assert "nextCursor" not in listed


@pytest.mark.parametrize("version", VERSIONS)
async def test_files_are_read_byte_for_byte(server: Server, version: str, forms: Skill) -> None:
    read: dict[str, bytes] = {}
    async with over_http(server, version) as session:
        for path in FORMS:
            (contents,) = (await session.read_resource(f"{ROOT}/{path}")).contents
            assert contents.uri == f"{ROOT}/{path}"
            if isinstance(contents, types.TextResourceContents):
                read[path] = contents.text.encode()
            else:
                read[path] = base64.b64decode(contents.blob)

    assert read == FORMS


async def test_its_document_is_listed_under_its_own_name(server: Server, forms: Skill) -> None:
    async with over_http(server, VERSIONS[-1]) as session:
        (listed,) = (await session.list_resources()).resources

    assert (listed.uri, listed.name) == (f"{ROOT}/SKILL.md", "pdf-forms")
    assert (listed.mime_type, listed.title) == ("text/markdown", "pdf-forms")
    assert listed.description is not None
    assert listed.description.startswith("Fills the forms of a PDF.")


def children(http: httpx2.Client, uri: str) -> dict[str, str]:
    found = ask(http, "resources/directory/read", uri=uri)
    return {child["uri"].removeprefix(uri): child["mimeType"] for child in found["resources"]}


def test_a_folder_tells_what_lies_directly_in_it(http: httpx2.Client, forms: Skill) -> None:
    assert children(http, ROOT) == {
        "/LICENSE.txt": "text/plain",
        "/SKILL.md": "text/markdown",
        "/assets": "inode/directory",
        "/references": "inode/directory",
        "/scripts": "inode/directory",
    }
    assert children(http, f"{ROOT}/references") == {
        "/FIELDS.md": "text/markdown",
        "/regional": "inode/directory",
    }
    assert children(http, f"{ROOT}/references/regional") == {"/eu": "inode/directory"}


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("skills/get", "skill://nothing/SKILL.md"),
        ("skills/get", f"{ROOT}/references/FIELDS.md"),
        ("skills/get", f"{ROOT}"),
        ("skills/get", "skill://project.x/pdf-forms/SKILL.md"),
        ("skills/get", f"skill://project.{10**30}/pdf-forms/SKILL.md"),
        ("skills/get", "checkpoint://7"),
        ("resources/directory/read", f"{ROOT}/SKILL.md"),
        ("resources/directory/read", f"{ROOT}/nothing"),
        ("resources/directory/read", f"{ROOT}/ref"),
        ("resources/directory/read", f"{ROOT}/"),
        ("resources/read", f"{ROOT}/../pdf-forms/SKILL.md"),
        ("resources/read", f"{ROOT}/%2e%2e/SKILL.md"),
        ("resources/read", f"{ROOT}/references"),
    ],
)
def test_what_is_not_there_is_an_invalid_parameter(
    http: httpx2.Client, forms: Skill, method: str, uri: str
) -> None:
    headers = {"Mcp-Name": uri} if method == "resources/read" else {}
    error = ask(http, method, headers, uri=uri)

    assert error["code"] == -32602
    assert error["message"].startswith("[not_found] ")
    assert error["data"]["uri"] == uri


def test_long_lists_come_in_pages(http: httpx2.Client, create: Create) -> None:
    create("one")
    original: dict[str, Any] = dict(Skill.objects.values().get())
    for generated in ("id", "proven"):
        del original[generated]
    Skill.objects.bulk_create(
        Skill(**{**original, "slug": f"s{number:03}"}) for number in range(150)
    )

    first = ask(http, "skills/list")
    second = ask(http, "skills/list", cursor=first["nextCursor"])
    uris = [entry["uri"] for page in (first, second) for entry in page["skills"]]
    assert len(first["skills"]) == 100
    assert len(set(uris)) == 151
    assert "nextCursor" not in second
    assert ask(http, "skills/list", cursor="x")["code"] == -32602


def test_earlier_versions_of_the_protocol_are_answered_too(
    http: httpx2.Client, forms: Skill
) -> None:
    session = open_session(http)
    listed = answer_of(http.post("/mcp", json=rpc("skills/list"), headers=session))

    assert [entry["uri"] for entry in listed["result"]["skills"]] == [f"{ROOT}/SKILL.md"]


@pytest.fixture
def narrow(forms: Skill, create: Create) -> dict[str, str]:
    """Headers of a context that holds one skill of several, and the prompts of that one."""
    create("shared")
    create("hidden", project_path="/w/secret")
    Context.objects.create(
        name="narrow", resources=["skill://shared/*"], prompts=["skill_shared"], is_open=True
    )
    Context.objects.create(name="bare", tools=["*"], is_open=True)
    return {"X-MCP-Context": "narrow"}


def test_a_context_shows_what_it_holds(http: httpx2.Client, narrow: dict[str, str]) -> None:
    def uris(headers: dict[str, str]) -> list[str]:
        return [entry["uri"] for entry in ask(http, "skills/list", headers)["skills"]]

    everything = uris({})
    (hidden,) = (uri for uri in everything if uri.endswith("/hidden/SKILL.md"))
    assert len(everything) == 3
    assert uris(narrow) == ["skill://shared/SKILL.md"]
    assert uris({"X-MCP-Context": "bare"}) == []
    assert ask(http, "skills/get", uri=hidden)["skill"]["uri"] == hidden
    for uri in (hidden, f"{ROOT}/SKILL.md"):
        assert "error" not in ask(http, "resources/read", {"Mcp-Name": uri}, uri=uri)
        assert "code" in ask(http, "skills/get", narrow, uri=uri)
        assert "code" in ask(http, "resources/read", {"Mcp-Name": uri, **narrow}, uri=uri)
    names = [prompt["name"] for prompt in ask(http, "prompts/list", narrow)["prompts"]]
    assert names == ["skill_shared"]


@pytest.mark.parametrize("held", ["*", "SKILL.md"])
def test_a_context_that_holds_what_is_in_a_folder_lists_it(
    http: httpx2.Client, forms: Skill, create: Create, held: str
) -> None:
    create("hidden")
    Context.objects.create(name="narrow", resources=[f"{ROOT}/{held}"], is_open=True)

    def answer(uri: str) -> Any:
        return ask(http, "resources/directory/read", {"X-MCP-Context": "narrow"}, uri=uri)

    assert len(answer(ROOT)["resources"]) == 5
    assert answer("skill://hidden")["message"].startswith("[unauthorized] ")


def test_a_context_that_holds_a_subfolder_lists_only_that(
    http: httpx2.Client, forms: Skill
) -> None:
    Context.objects.create(name="narrow", resources=[f"{ROOT}/references/*"], is_open=True)

    def answer(uri: str) -> Any:
        return ask(http, "resources/directory/read", {"X-MCP-Context": "narrow"}, uri=uri)

    assert len(answer(f"{ROOT}/references")["resources"]) == 2
    assert answer(ROOT)["message"].startswith("[unauthorized] ")


def say(http: httpx2.Client, prompt: str, **arguments: str) -> Any:
    return ask(http, "prompts/get", name=prompt, arguments=arguments)


def prompts_of_skills(http: httpx2.Client) -> dict[str, Any]:
    listed = ask(http, "prompts/list")["prompts"]
    return {one["name"]: one for one in listed if one["name"].startswith("skill_")}


def text_of(result: Any) -> str:
    (message,) = result["messages"]
    assert message["role"] == "user"
    text: str = message["content"]["text"]
    return text


def test_each_skill_is_a_prompt(http: httpx2.Client, create: Create, forms: Skill) -> None:
    create("Review code", expected_outcome="a verdict", prerequisites=["a diff"])
    create("Review code", project_path="/w/shop", content="Do it")
    own = f"skill_review-code_{Skill.objects.exclude(project=None).get().project_id}"

    listed = prompts_of_skills(http)
    shared = say(http, "skill_review-code")
    assert listed.keys() == {"skill_pdf-forms", "skill_review-code", own}
    assert listed["skill_review-code"]["description"] == "How to Review code"
    assert (listed["skill_review-code"]["title"], listed[own]["title"]) == (
        "Review code",
        "Review code (shop)",
    )
    assert shared["description"] == "How to Review code"
    assert all(part in text_of(shared) for part in ("a verdict", "a diff", "1. Begin"))
    assert "Do it" in text_of(say(http, own))
    assert f"{ROOT}/references/FIELDS.md" in text_of(say(http, "skill_pdf-forms"))
    assert Skill.objects.get(slug="pdf-forms").usage_count == 1


def test_what_is_typed_goes_to_its_place(http: httpx2.Client, create: Create) -> None:
    create(
        "one", content="Look at $file, ${depth} deep, for $5.", metadata={"arguments": "file depth"}
    )
    create("two", content="Look at it.", metadata={"arguments": "file"})
    create("three", content="Look at $file.", metadata={"arguments": "file focus"})
    create("four", content="Look at $file: $ARGUMENTS", metadata={"arguments": "file focus"})

    arguments = prompts_of_skills(http)["skill_one"]["arguments"]
    assert [argument["name"] for argument in arguments] == ["file", "depth"]
    assert "Look at a.py,  deep, for $5." in text_of(say(http, "skill_one", file="a.py"))
    assert "Look at it.\n\nArguments:\n- file: a.py" in text_of(say(http, "skill_two", file="a.py"))
    both = {"file": "a.py", "focus": "security"}
    three, four = (text_of(say(http, name, **both)) for name in ("skill_three", "skill_four"))
    assert three.endswith("Look at a.py.\n\nArguments:\n- focus: security")
    assert four.endswith("Look at a.py: a.py security")


def test_declared_arguments_of_a_skill_are_completed(http: httpx2.Client, create: Create) -> None:
    create("one", project_path="/w/shop", metadata={"arguments": "project_path"})
    (prompt,) = prompts_of_skills(http)

    def complete(argument: str) -> Any:
        ref = {"type": "ref/prompt", "name": prompt}
        typed = {"name": argument, "value": ""}
        return ask(http, "completion/complete", ref=ref, argument=typed)["completion"]["values"]

    assert complete("project_path") == ["/w/shop"]
    assert complete("path") == []


@pytest.mark.parametrize(
    ("prompt", "arguments", "message"),
    [
        ("skill_two", {}, "there is no prompt named 'skill_two'"),
        ("skill_one_7", {}, "there is no prompt named 'skill_one_7'"),
        ("skill_one_x", {}, "there is no prompt named 'skill_one_x'"),
        ("skill_one", {"path": "x"}, "unknown argument 'path'; this prompt takes: file"),
    ],
)
def test_a_prompt_that_cannot_be_had_says_why(
    http: httpx2.Client, create: Create, prompt: str, arguments: dict[str, str], message: str
) -> None:
    create("one", metadata={"arguments": "file"})

    error = say(http, prompt, **arguments)
    assert error["code"] == -32602
    assert message in error["message"]


@pytest.mark.parametrize("state", [State.DRAFT, State.RETIRED])
def test_only_what_is_published_is_served(http: httpx2.Client, forms: Skill, state: State) -> None:
    Skill.objects.update(state=state)

    assert ask(http, "skills/list")["skills"] == []
    assert ask(http, "skills/get", uri=f"{ROOT}/SKILL.md")["code"] == -32602
    headers = {"Mcp-Name": f"{ROOT}/SKILL.md"}
    assert ask(http, "resources/read", headers, uri=f"{ROOT}/SKILL.md")["code"] == -32602
    assert prompts_of_skills(http) == {}


@pytest.fixture
def told(transactional_db: None) -> Iterator[list[Change]]:
    heard: list[Change] = []

    def hear(news: object) -> None:
        if isinstance(news, Change):
            heard.append(news)

    end = changes.subscribe(hear)
    yield heard
    end()


def test_a_list_of_arguments_may_come_through_the_tool(caller: Caller, create: Create) -> None:
    create("one", metadata={"arguments": ["pr", {"name": "base", "required": True}]})

    (offer,) = prompts.offers(caller)
    assert [(one.name, one.is_required) for one in offer.arguments] == [
        ("pr", False),
        ("base", True),
    ]


def test_arguments_without_a_name_do_not_break_the_list_of_prompts(
    caller: Caller, create: Create
) -> None:
    create("one", metadata={"arguments": [{"description": "the PR"}, {"name": None}, {"nme": "x"}]})

    assert [(one.name, one.arguments) for one in prompts.offers(caller)] == [("skill_one", ())]


@pytest.mark.parametrize("ends", ["merged", "deleted"])
def test_clients_are_told_when_the_project_ends(
    create: Create, told: list[Change], ends: str
) -> None:
    create("one", project_path="/w/store")
    create("two", project_path="/w/shop")
    kept = Project.objects.get(paths__path="/w/shop")
    ended = Project.objects.get(paths__path="/w/store")
    address = f"skill://project.{ended.pk}/one/SKILL.md"
    told.clear()
    if ends == "merged":
        projects.merge(kept, ended)
    else:
        ended.delete()

    expected = {("prompts", None), ("resources", None), ("resources", address)}
    assert {(change.kind, change.uri) for change in told} == expected


def test_clients_are_told_of_every_change(call: Call, create: Create, told: list[Change]) -> None:
    skill = create("one")
    expected = {("prompts", None), ("resources", None), ("resources", "skill://one/SKILL.md")}
    assert {(change.kind, change.uri) for change in told} == expected

    told.clear()
    call("skill_update", id=skill, name="two")
    renamed = {*expected, ("resources", "skill://two/SKILL.md")}
    assert {(change.kind, change.uri) for change in told} == renamed

    told.clear()
    call("skill_delete", id=skill)
    assert ("resources", "skill://two/SKILL.md") in {(one.kind, one.uri) for one in told}


def test_clients_are_told_which_files_of_a_skill_change(
    tmp_path: Path, call: Call, forms: Skill, told: list[Change]
) -> None:
    def addresses() -> set[str]:
        heard = {change.uri for change in told if change.uri}
        told.clear()
        return heard

    changed = {**FORMS, "scripts/fill.py": b"better"}
    del changed["assets/empty"]
    call_command("skills", "import", write(tmp_path / "new/pdf-forms", changed), verbosity=0)
    assert addresses() == {f"{ROOT}/scripts/fill.py", f"{ROOT}/assets/empty"}
    call("skill_restore", id=str(forms.pk), version="1.4.0")
    assert addresses() >= {f"{ROOT}/scripts/fill.py", f"{ROOT}/assets/empty"}
    call("skill_delete", id=str(forms.pk))
    assert addresses() == {f"{ROOT}/{path}" for path in FORMS}


@pytest.mark.parametrize(
    ("front_matter", "expected"),
    [
        ({"arguments": "issue, branch"}, [("issue", False), ("branch", False)]),
        ({"arguments": "[issue, 1st]"}, [("issue", False)]),
        ({"arguments": "[{name: issue, required: true}]"}, [("issue", True)]),
        ({"argument-hint": "'[issue]'"}, [("arguments", False)]),
        ({"arguments": "7"}, []),
        ({"arguments": "[true, null, issue, issue]"}, [("issue", False)]),
        ({"arguments": "'[[1'"}, []),
        ({}, []),
    ],
)
def test_arguments_are_those_that_its_front_matter_names(
    tmp_path: Path,
    warm_model: None,
    front_matter: dict[str, str],
    expected: list[tuple[str, bool]],
) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one", **front_matter)})
    call_command("skills", "import", folder, verbosity=0)
    caller = Caller(principal="tester", door="mcp", entry=Entry())

    (offer,) = prompts.offers(caller)
    assert [(one.name, one.is_required) for one in offer.arguments] == expected
