"""Skills as MCP serves them: as folders of resources."""

import base64
import hashlib
from typing import Any

import httpx2
import pytest
from mcp import types

from contexts.models import Context
from skills.models import Skill, State
from tests.clients import VERSIONS, over_http
from tests.plain_http import answer_of, ask, open_session, rpc
from tests.server import Server
from tests.skills.conftest import Create
from tests.skills.packages import FORMS, ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

EXTENSION = "io.modelcontextprotocol/skills"


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


@pytest.mark.parametrize("state", [State.DRAFT, State.RETIRED])
def test_only_what_is_published_is_served(http: httpx2.Client, forms: Skill, state: State) -> None:
    Skill.objects.update(state=state)

    assert ask(http, "skills/list")["skills"] == []
    assert ask(http, "skills/get", uri=f"{ROOT}/SKILL.md")["code"] == -32602
    headers = {"Mcp-Name": f"{ROOT}/SKILL.md"}
    assert ask(http, "resources/read", headers, uri=f"{ROOT}/SKILL.md")["code"] == -32602
    assert ask(http, "prompts/get", name="skill_pdf-forms")["code"] == -32602
