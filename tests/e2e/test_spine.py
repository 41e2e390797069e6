"""Plan, preview, approve, run, take back: a real folder behind the gate, and a real client in each era."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp
import pytest
from mcp import types
from mcp.client.streamable_http import streamable_http_client

from gate import Gate, serving

WITHIN_SECONDS = 30.0
CONFIGURATION = """
[packs.gate]
[packs.spine]

[packs.vault]
root = "documents"

[approvals]
ask_clients_of = ["user:alice"]
"""


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    (folder / "archive").mkdir(parents=True)
    (folder / "notes.txt").write_text("Minutes of the meeting on 2026-03-04")
    return folder


@pytest.fixture
def gate(tmp_path: Path, documents: Path) -> Iterator[Gate]:
    (tmp_path / "toolgate.toml").write_text(CONFIGURATION)
    (tmp_path / "data").mkdir()
    with serving(tmp_path / "data") as served:
        yield served


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


Talk = Callable[[mcp.Client], Awaitable[None]]


@pytest.fixture
def meet(gate: Gate, mode: str) -> Callable[..., None]:
    """Connects as a user and lets a function talk."""

    @asynccontextmanager
    async def connected(user: str, **answers: Any) -> AsyncIterator[mcp.Client]:
        headers = {"Authorization": f"Bearer {gate.mint('--user', user)}"}
        async with httpx2.AsyncClient(headers=headers, timeout=WITHIN_SECONDS) as http:
            transport = streamable_http_client(gate.url, http_client=http)
            async with mcp.Client(transport, mode=mode, cache=None, **answers) as client:
                yield client

    def meet(talk: Talk, user: str = "alice", **answers: Any) -> None:
        async def run() -> None:
            with anyio.fail_after(WITHIN_SECONDS):
                async with connected(user, **answers) as client:
                    await talk(client)

        anyio.run(run)

    return meet


async def ids(client: mcp.Client) -> dict[str, str]:
    """The ids of what lies at the top, by name."""
    listed = await client.call_tool("vault_list", {})
    assert not listed.is_error, listed
    return {item["name"]: item["id"] for item in listed.structured_content["items"]}


async def move(client: mcp.Client, **more: Any) -> types.CallToolResult:
    known = await ids(client)
    return await client.call_tool("vault_move", {"id": known["notes.txt"], "toFolderId": known["archive"], **more})


def answering(approve: bool, asked: list[str]) -> Callable[..., Awaitable[types.ElicitResult]]:
    async def answer(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": approve})

    return answer


def test_a_move_that_is_approved_at_the_client_runs_and_is_taken_back(meet, documents):
    asked: list[str] = []

    async def talk(client: mcp.Client) -> None:
        moved = await move(client)
        assert not moved.is_error, moved
        assert (documents / "archive" / "notes.txt").exists() and not (documents / "notes.txt").exists()
        receipt = moved.meta["toolgate/receipt"]
        undone = await client.call_tool("undo", {"receipt": receipt})
        assert undone.structured_content["undone"] == [receipt] and not undone.structured_content["failed"]
        assert (documents / "notes.txt").exists() and not (documents / "archive" / "notes.txt").exists()
        again = await client.call_tool("undo", {"receipt": receipt})
        assert again.is_error and (documents / "notes.txt").exists()

    meet(talk, elicitation_callback=answering(True, asked))
    assert len(asked) == 1 and "vault.move" in asked[0]


def test_a_move_that_is_declined_does_not_run(meet, documents):
    asked: list[str] = []

    async def talk(client: mcp.Client) -> None:
        moved = await move(client)
        assert moved.is_error and "was not approved" in moved.content[0].text, moved.content
        assert (documents / "notes.txt").exists()

    meet(talk, elicitation_callback=answering(False, asked))
    assert len(asked) == 1


def test_a_client_the_operator_did_not_name_is_not_asked(meet, documents):
    asked: list[str] = []

    async def talk(client: mcp.Client) -> None:
        moved = await move(client)
        assert moved.is_error and "appr_" in moved.content[0].text
        assert (documents / "notes.txt").exists()

    meet(talk, user="bob", elicitation_callback=answering(True, asked))
    assert asked == []


def test_a_dry_run_needs_nobody_and_changes_nothing(meet, documents):
    async def talk(client: mcp.Client) -> None:
        before = sorted(str(path) for path in documents.rglob("*"))
        shown = await move(client, dryRun=True)
        assert shown.structured_content == {"moved": False, "dryRun": True}
        assert sorted(str(path) for path in documents.rglob("*")) == before

    meet(talk, user="bob")


def test_what_moved_on_since_is_not_taken_back(meet, documents):
    async def talk(client: mcp.Client) -> None:
        moved = await move(client)
        (documents / "notes.txt").write_text("somebody put another one here")
        undone = await client.call_tool("undo", {"receipt": moved.meta["toolgate/receipt"]})
        assert undone.is_error and "moved on" in undone.structured_content["failed"][0]["reason"]
        assert (documents / "notes.txt").read_text() == "somebody put another one here"

    meet(talk, elicitation_callback=answering(True, []))


def test_a_flow_narrows_and_takes_back_what_was_done_in_it(meet, documents):
    async def talk(client: mcp.Client) -> None:
        opened = await client.call_tool("flow_open", {"name": "tidy", "allowlist": ["vault_list", "vault_move", "undo"]})
        flow = opened.structured_content["flow"]
        within = {"toolgate/flow": flow}
        names = [tool.name for tool in (await client.list_tools(meta=within)).tools]
        assert sorted(names) == ["undo", "vault_list", "vault_move"]
        outside = await client.call_tool("vault_search", {"query": "x"}, meta=within)
        assert outside.is_error and "allowlist" in outside.content[0].text
        known = await ids(client)
        moved = await client.call_tool(
            "vault_move", {"id": known["notes.txt"], "toFolderId": known["archive"]}, meta=within
        )
        assert not moved.is_error, moved
        undone = await client.call_tool("undo", {"flow": flow})
        assert undone.structured_content["undone"] == [moved.meta["toolgate/receipt"]]
        assert (documents / "notes.txt").exists()
        closed = await client.call_tool("flow_close", {"flow": flow})
        assert closed.structured_content == {"closed": True}

    meet(talk, elicitation_callback=answering(True, []))


def test_anothers_flow_and_receipt_do_not_exist(meet, gate):
    made: dict[str, str] = {}

    async def alices(client: mcp.Client) -> None:
        opened = await client.call_tool("flow_open", {"name": "mine"})
        made["flow"] = opened.structured_content["flow"]
        made["receipt"] = (await move(client)).meta["toolgate/receipt"]

    async def bobs(client: mcp.Client) -> None:
        closed = await client.call_tool("flow_close", {"flow": made["flow"]})
        never = await client.call_tool("flow_close", {"flow": "flow_" + "0" * 32})
        assert closed.is_error and closed.content[0].text.replace(made["flow"], "X") == never.content[0].text.replace(
            "flow_" + "0" * 32, "X"
        )
        undone = await client.call_tool("undo", {"receipt": made["receipt"]})
        assert undone.is_error and undone.structured_content["undone"] == []

    meet(alices, elicitation_callback=answering(True, []))
    meet(bobs, user="bob")
