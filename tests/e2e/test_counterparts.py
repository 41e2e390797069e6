"""What a foreign server's tool did is taken back by another of its tools, and shown beforehand by a third: by facts alone."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import raw
from asking import Caller
from clients.node import node, packages
from gate import Gate, binary, clean_environment, serving

CONFIGURATION = """
[packs.spine]

[[upstreams]]
name = "files"
prefix = "files_"
command = {node}
args = [{filesystem}, {folder}]

[tools.files_move_file]
undo = {{ tool = "files_move_file", arguments = "{{source: input.destination, destination: input.source}}" }}
preview = {{ tool = "files_get_file_info", arguments = "{{path: input.source}}" }}

[tools.files_create_directory]
undo = {{ never = "nothing here removes a folder" }}

[tools.files_write_file]
undo = {{ tool = "files_move_file", arguments = "{{source: output.nothing.like.this}}" }}
preview = {{ tool = "files_edit_file", arguments = "input" }}

[tools.files_list_allowed_directories]
undo = {{ tool = "files_edit_file", arguments = "{{path: '{folder}/draft.txt', edits: [{{oldText: 'draft', newText: 'text'}}]}}" }}

[tools.files_edit_file]
approval = "required"

[tools.files_get_file_info]
effect = "read"
permission = {info}
"""


def configured(home: Path, info: str = "signed_in") -> Path:
    folder = home / "folder"
    folder.mkdir()
    (folder / "draft.txt").write_text("a draft")
    filesystem = packages() / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    values = {"node": node(), "filesystem": filesystem, "folder": folder, "info": info}
    quoted = {name: json.dumps(str(value)) for name, value in values.items()}
    text = CONFIGURATION.replace("'{folder}/", f"'{folder}/").format(**quoted)
    (home / "toolgate.toml").write_text(text)
    (home / "data").mkdir()
    Gate(data=home / "data").command("upstream", "accept", "files", "--all")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return configured(tmp_path)


@pytest.fixture
def gate(tmp_path: Path, folder: Path) -> Iterator[Gate]:
    with serving(tmp_path / "data") as served:
        yield served


def call(gate: Gate, user: str, tool: str, arguments: dict[str, Any], dry_run: bool = False) -> dict[str, Any]:
    body, headers = raw.stateless("tools/call", {"name": tool, "arguments": arguments})
    if dry_run:
        body["params"]["_meta"]["toolgate/dryRun"] = True
    answer = raw.message(raw.post(gate, body, headers, Caller(token=gate.mint("--user", user))))
    return answer["result"]


def move(gate: Gate, folder: Path, dry_run: bool = False) -> dict[str, Any]:
    places = {"source": str(folder / "draft.txt"), "destination": str(folder / "final.txt")}
    return call(gate, "alice", "files_move_file", places, dry_run)


def undo(gate: Gate, receipt: str, user: str = "alice") -> dict[str, Any]:
    return call(gate, user, "undo", {"receipt": receipt})


def test_a_move_is_taken_back_by_a_move_and_done_again_by_undoing_that(gate, folder):
    moved = move(gate, folder)
    assert not moved.get("isError") and not (folder / "draft.txt").exists()
    receipt = moved["_meta"]["toolgate/receipt"]
    assert undo(gate, receipt, user="bob")["isError"], "another's receipt"
    assert (folder / "final.txt").exists()
    undone = undo(gate, receipt)
    assert undone["structuredContent"]["undone"] == [receipt] and not undone["structuredContent"]["failed"]
    assert (folder / "draft.txt").read_text() == "a draft" and not (folder / "final.txt").exists()
    assert undo(gate, receipt)["isError"] and (folder / "draft.txt").exists(), "twice is harmless"
    [own] = [each for each in listed(gate) if each["undoes"] == receipt]
    assert undone["_meta"]["toolgate/receipt"] == own["id"]
    assert own["undo"]["kind"] == "compensation"
    assert not undo(gate, own["id"]).get("isError")
    assert (folder / "final.txt").exists() and not (folder / "draft.txt").exists(), "an undo undone is a redo"


def listed(gate: Gate) -> list[dict[str, Any]]:
    told = json.loads(gate.command("receipts", "list", "--json"))
    return told["receipts"] if isinstance(told, dict) else told


def test_an_undo_that_failed_may_have_had_an_effect_and_is_not_tried_again(gate, folder):
    receipt = move(gate, folder)["_meta"]["toolgate/receipt"]
    (folder / "final.txt").unlink()
    refused = undo(gate, receipt)
    assert refused["isError"] and "is not known" in refused["content"][0]["text"]
    assert list(folder.iterdir()) == []
    (folder / "final.txt").write_text("back again")
    assert undo(gate, receipt)["isError"]
    assert (folder / "final.txt").read_text() == "back again"


def test_a_counterpart_that_needs_a_yes_gets_its_own(gate, folder):
    receipt = call(gate, "alice", "files_list_allowed_directories", {})["_meta"]["toolgate/receipt"]
    refused = undo(gate, receipt)
    assert refused["isError"] and (folder / "draft.txt").read_text() == "a draft"
    approval = re.search(r"appr_\w+", refused["content"][0]["text"])
    assert approval, refused
    gate.command("approvals", "approve", approval[0])
    assert not undo(gate, receipt).get("isError")
    assert (folder / "draft.txt").read_text() == "a text"


def test_what_can_not_be_taken_back_says_so(gate, folder):
    made = call(gate, "alice", "files_create_directory", {"path": str(folder / "new")})
    refused = undo(gate, made["_meta"]["toolgate/receipt"])
    assert refused["isError"] and "nothing here removes a folder" in refused["content"][0]["text"]
    written = call(gate, "alice", "files_write_file", {"path": str(folder / "x.txt"), "content": "x"})
    refused = undo(gate, written["_meta"]["toolgate/receipt"])
    assert refused["isError"] and "can't be called with what came of it" in refused["content"][0]["text"]
    assert (folder / "new").exists() and (folder / "x.txt").exists()


def test_another_tool_shows_what_a_call_would_do(gate, folder):
    shown = move(gate, folder, dry_run=True)
    assert shown["_meta"]["toolgate/dryRun"] == "preview_tool" and "size: 7" in shown["content"][0]["text"]
    assert [each.name for each in folder.iterdir()] == ["draft.txt"], "and nothing was done"


def test_a_tool_that_writes_never_shows_anything(gate, folder):
    shown = call(gate, "alice", "files_write_file", {"path": str(folder / "x.txt"), "content": "x"}, dry_run=True)
    assert shown["_meta"]["toolgate/dryRun"] == "static"
    assert [each.name for each in folder.iterdir()] == ["draft.txt"]


def test_who_may_not_use_that_tool_sees_the_call_itself(tmp_path):
    folder = configured(tmp_path, info="admin_only")
    with serving(tmp_path / "data") as gate:
        shown = move(gate, folder, dry_run=True)
        assert shown["_meta"]["toolgate/dryRun"] == "static" and "size: 7" not in shown["content"][0]["text"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('{ tool = "list_tasks", arguments = "{a: " }', "JMESPath"),
        ('{ tool = "list_tasks" }', "tool and arguments, or never"),
        ('{ tool = "list_task", arguments = "input" }', "list_tasks"),
    ],
)
def test_a_fact_that_can_not_be_followed_is_said_by_check(tmp_path, wrong, told):
    (tmp_path / "toolgate.toml").write_text(f'[packs.todo]\n\n[tools.add_task]\nundo = {wrong}\n')
    done = subprocess.run(
        [binary(), "check"], capture_output=True, text=True, cwd=tmp_path, env=clean_environment(), timeout=60
    )
    assert done.returncode != 0 and told in done.stdout + done.stderr
