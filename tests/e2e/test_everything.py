"""The reference server that has everything, behind the gate: what it offers beside tools and what it asks its client, seen
by a client of each era. The server itself is of the older era."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp
import pytest
from mcp import types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from clients.node import node, packages
from gate import Gate, serving

WITHIN_SECONDS = 30.0
CONFIGURATION = """
[[upstreams]]
name = "everything"
prefix = "all_"
command = {node}
args = [{server}, "stdio"]

[prompts."all_simple-prompt"]
permission = "unauthenticated"

[resources."demo://resource/static/*"]
permission = "unauthenticated"

[resources."demo://resource/dynamic/text/13"]
permission = "admin_only"
"""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    home = tmp_path_factory.mktemp("everything")
    server = packages() / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    text = CONFIGURATION.format(node=json.dumps(node()), server=json.dumps(str(server)))
    (home / "toolgate.toml").write_text(text)
    gate = Gate(data=home / "data")
    gate.data.mkdir()
    gate.command("upstream", "accept", "everything", "--all")
    with serving(gate.data) as served:
        yield served


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


Meeting = Callable[[mcp.Client], Awaitable[None]]


@pytest.fixture
def meet(gateway: Gate, mode: str) -> Callable[..., None]:
    """Connects as a caller and lets a function talk."""

    @asynccontextmanager
    async def connected(token: str | None, **answers: Any) -> AsyncIterator[mcp.Client]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=WITHIN_SECONDS) as http:
            transport = streamable_http_client(gateway.url, http_client=http)
            async with mcp.Client(transport, mode=mode, cache=None, **answers) as client:
                yield client

    def meet(talk: Meeting, user: str | None = "alice", **answers: Any) -> None:
        async def run() -> None:
            with anyio.fail_after(WITHIN_SECONDS):
                token = None if user is None else gateway.mint("--user", user)
                async with connected(token, **answers) as client:
                    await talk(client)

        anyio.run(run)

    return meet


def test_prompts_are_listed_got_and_completed(meet):
    async def talk(client: mcp.Client) -> None:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert {"all_simple-prompt", "all_args-prompt", "all_completable-prompt"} <= set(names)
        got = await client.get_prompt("all_args-prompt", {"city": "Kyoto"})
        assert got.messages[0].content.text == "What's weather in Kyoto?"
        reference = types.PromptReference(type="ref/prompt", name="all_completable-prompt")
        completed = await client.complete(reference, {"name": "department", "value": "S"})
        assert completed.completion.values == ["Sales", "Support"]

    meet(talk)


def test_a_stranger_gets_the_prompts_that_are_for_strangers(meet):
    async def talk(client: mcp.Client) -> None:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["all_simple-prompt"]
        await client.get_prompt("all_simple-prompt")
        answers = []
        for name in ["all_args-prompt", "all_xxxx-prompt"]:
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(name, {"city": "Kyoto"})
            answers.append((refused.value.code, refused.value.message.replace(name, "NAME")))
        assert answers[0] == answers[1]

    meet(talk, user=None)


def test_resources_are_listed_and_read_also_through_a_template(meet):
    async def talk(client: mcp.Client) -> None:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        static = [uri for uri in listed if uri.startswith("demo://resource/static/")]
        assert static
        assert (await client.read_resource(static[0])).contents[0].text
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        assert "demo://resource/dynamic/text/{resourceId}" in templates
        read = await client.read_resource("demo://resource/dynamic/text/7")
        assert "7" in read.contents[0].text
        for hidden in ["demo://resource/dynamic/text/13", "demo://resource/nowhere/1"]:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(hidden)
            assert refused.value.message == f"Resource not found: {hidden}"

    meet(talk)


def test_a_stranger_reads_what_is_for_strangers(meet):
    async def talk(client: mcp.Client) -> None:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        assert listed and all(uri.startswith("demo://resource/static/") for uri in listed)
        assert (await client.list_resource_templates()).resource_templates == []
        with pytest.raises(MCPError):
            await client.read_resource("demo://resource/dynamic/text/7")

    meet(talk, user=None)


def test_a_question_reaches_the_client_and_its_answer_the_server(meet):
    asked = []

    async def answer(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params)
        return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})

    async def talk(client: mcp.Client) -> None:
        result = await client.call_tool("all_trigger-elicitation-request", {})
        assert not result.is_error
        assert "Ada" in "".join(block.text for block in result.content if block.type == "text")

    meet(talk, elicitation_callback=answer)
    assert len(asked) == 1
    assert asked[0].requested_schema["properties"]["firstLine"]["default"] == "It was a dark and stormy night."


def test_a_client_that_refuses_is_heard(meet):
    async def answer(_context: Any, _params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    async def talk(client: mcp.Client) -> None:
        result = await client.call_tool("all_trigger-elicitation-request", {})
        assert "declined" in "".join(block.text for block in result.content if block.type == "text")

    meet(talk, elicitation_callback=answer)


def test_sampling_runs_on_the_clients_own_model(meet):
    async def sample(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        assert "a haiku" in params.messages[0].content.text
        content = types.TextContent(type="text", text="an old silent pond")
        return types.CreateMessageResult(role="assistant", content=content, model="none")

    async def talk(client: mcp.Client) -> None:
        result = await client.call_tool("all_trigger-sampling-request", {"prompt": "a haiku"})
        assert "an old silent pond" in "".join(block.text for block in result.content if block.type == "text")

    meet(talk, sampling_callback=sample)


def test_a_client_that_offers_nothing_is_asked_nothing(meet, mode):
    async def talk(client: mcp.Client) -> None:
        if mode == "legacy":
            result = await client.call_tool("all_trigger-elicitation-request", {})
            assert result.is_error
        else:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("all_trigger-elicitation-request", {})
            assert refused.value.code == -32021

    meet(talk)


def test_progress_comes_before_the_answer(meet):
    seen = []

    async def progress(done: float, total: float | None, _message: str | None) -> None:
        seen.append((done, total))

    async def talk(client: mcp.Client) -> None:
        arguments = {"duration": 0.4, "steps": 4}
        await client.call_tool("all_trigger-long-running-operation", arguments, progress_callback=progress)

    meet(talk)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
