"""A plan of calls: proposed, previewed, approved as a whole and step by step where values were not known, run and taken back, by
a real client in each era."""

from __future__ import annotations

import json
from typing import Any

import mcp

from test_spine import answering, documents, gate, ids, meet, mode  # noqa: F401  fixtures are found by name


async def propose(client: mcp.Client, calls: list[dict[str, Any]]) -> str:
    proposed = await client.call_tool("plan_propose", {"name": "tidy", "calls": calls})
    assert not proposed.is_error, proposed
    assert proposed.structured_content["state"] == "proposed"
    return proposed.structured_content["plan"]


async def execute(client: mcp.Client, plan: str, **how: Any) -> mcp.types.CallToolResult:
    """Runs the plan to its end. A step that is filled on the way is asked about with its real values."""
    for _ in range(4):
        done = await client.call_tool("plan_execute", {"plan": plan, **how})
        if (done.structured_content or {}).get("code") != "approval_required":
            return done
    raise AssertionError(done)


def tidy(archive: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """Finds the minutes, renames them and puts them away."""
    found = {"$from": "find", "path": "/items/0/id"}
    return [
        {"id": "find", "tool": "vault.search", "arguments": {"query": "Minutes"}},
        {"tool": "vault.rename", "arguments": {"id": found, "newName": "minutes.txt"}},
        {"tool": "vault_move", "arguments": {"id": found, "toFolderId": archive}},
        *more,
    ]


def test_a_client_approves_the_plan_and_each_step_that_is_filled(meet, documents):
    asked: list[str] = []

    async def talk(client: mcp.Client) -> None:
        known = await ids(client)
        plan = await propose(client, tidy(known["archive"]))
        before = sorted(str(path) for path in documents.rglob("*"))
        shown = await client.call_tool("plan_preview", {"plan": plan})
        kinds = [step["preview"] for step in shown.structured_content["steps"]]
        assert kinds == ["static", "not_yet_known", "not_yet_known"], shown
        assert shown.structured_content["needs_approval"] and not asked
        assert sorted(str(path) for path in documents.rglob("*")) == before

        done = await execute(client, plan)
        assert not done.is_error, done
        assert done.structured_content["state"] == "done"
        assert (documents / "archive" / "minutes.txt").exists() and not (documents / "notes.txt").exists()
        receipts = [step["receipt"] for step in done.structured_content["steps"][1:]]
        for receipt in reversed(receipts):
            undone = await client.call_tool("undo", {"receipt": receipt})
            assert not undone.is_error, undone
        assert (documents / "notes.txt").exists()

    meet(talk, elicitation_callback=answering(True, asked))
    assert "vault.rename" in asked[0] and "vault.move" in asked[0]
    assert len(asked) == 3 and "$from" not in "".join(asked[1:]), "the steps are asked about with their real values"


def test_a_failure_takes_back_what_was_done(meet, documents):
    async def talk(client: mcp.Client) -> None:
        known = await ids(client)
        missing = {"tool": "vault.rename", "arguments": {"id": "no-such-id", "newName": "x.txt"}}
        plan = await propose(client, tidy(known["archive"], missing))
        undone = await execute(client, plan, on_failure="undo")
        assert undone.is_error and undone.structured_content["state"] == "undone", undone
        states = [step["state"] for step in undone.structured_content["steps"]]
        assert states == ["done", "undone", "undone", "failed"], "what only read is not undone"
        assert (documents / "notes.txt").exists() and list((documents / "archive").iterdir()) == []

    meet(talk, elicitation_callback=answering(True, []))


def test_an_operator_approves_a_plan_by_the_command(meet, gate, documents):
    kept: dict[str, str] = {}

    async def asks(client: mcp.Client) -> None:
        kept["plan"] = await propose(client, tidy((await ids(client))["archive"]))
        waits = await client.call_tool("plan_execute", {"plan": kept["plan"]})
        assert waits.is_error and waits.structured_content["code"] == "approval_required", waits
        kept["approval"] = waits.structured_content["approval"]
        assert (documents / "notes.txt").exists()

    async def runs(client: mcp.Client) -> None:
        for tool in ["vault.rename", "vault.move"]:
            waits = await client.call_tool("plan_execute", {"plan": kept["plan"]})
            assert waits.structured_content["code"] == "approval_required", waits
            step = json.loads(gate.command("approvals", "show", waits.structured_content["approval"], "--json"))
            assert step["tool"] == tool and step["shown"]["arguments"]["id"].startswith("doc_"), step
            gate.command("approvals", "approve", step["id"])
        done = await client.call_tool("plan_execute", {"plan": kept["plan"]})
        assert not done.is_error, done
        assert done.structured_content["approved_by"].startswith("operator:")
        again = await client.call_tool("plan_execute", {"plan": kept["plan"]})
        assert again.is_error and again.structured_content["code"] == "plan_over"
        shown = await client.call_tool("plan_show", {"plan": kept["plan"]})
        assert shown.structured_content["state"] == "done"

    async def is_told_nothing(client: mcp.Client) -> None:
        shown = await client.call_tool("plan_show", {"plan": kept["plan"]})
        assert shown.is_error and shown.structured_content["code"] == "unknown_plan"

    meet(asks, user="bob")
    shown = json.loads(gate.command("approvals", "show", kept["approval"], "--json"))
    assert [call["tool"] for call in shown["shown"]["arguments"]["calls"]] == [
        "vault.search",
        "vault.rename",
        "vault.move",
    ]
    gate.command("approvals", "approve", kept["approval"])
    meet(runs, user="bob")
    assert (documents / "archive" / "minutes.txt").exists()
    meet(is_told_nothing, user="carol")


def test_a_call_nobody_may_make_is_refused_with_its_place(meet):
    async def talk(client: mcp.Client) -> None:
        for tool, code in [("no.such.tool", "unknown_tool"), ("plan_execute", "not_plannable"), ("undo", "not_plannable")]:
            calls = [{"tool": "vault.list"}, {"tool": tool, "arguments": {}}]
            refused = await client.call_tool("plan_propose", {"calls": calls})
            assert refused.is_error and refused.structured_content["step"] == 2, refused
            assert refused.structured_content["code"] == code

    meet(talk)
