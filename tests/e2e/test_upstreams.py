"""Servers nobody here wrote, behind the gate: several at once, seen and called as different callers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import ANONYMOUS, LIST, Call, Caller, Place
from clients.node import node, packages
from gate import Gate, binary, clean_environment, serving

CONFIGURATION = """
[packs.gate]

[[upstreams]]
name = "time"
prefix = "time_"
command = {python}
args = ["-m", "mcp_server_time", "--local-timezone", "UTC"]

[[upstreams]]
name = "git"
command = {python}
args = ["-m", "mcp_server_git", "--repository", {repository}]

[[upstreams]]
name = "files"
prefix = "files_"
command = {node}
args = [{filesystem}, {folder}]
exclude = ["move_file"]

[[upstreams]]
name = "memory"
prefix = "memory_"
command = {node}
args = [{memory}]
env = {{ MEMORY_FILE_PATH = {memory_file} }}

[[upstreams]]
name = "dead"
command = "no-such-program-anywhere"

[tools.files_write_file]
approval = "required"

[tools.time_get_current_time]
permission = "unauthenticated"
"""


def server(name: str) -> str:
    return str(packages() / f"node_modules/@modelcontextprotocol/server-{name}/dist/index.js")


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    home = tmp_path_factory.mktemp("gateway")
    repository, folder = home / "repository", home / "folder"
    folder.mkdir()
    (folder / "note.txt").write_text("hello from a file")
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    values = {
        "python": sys.executable,
        "node": node(),
        "repository": repository,
        "folder": folder,
        "filesystem": server("filesystem"),
        "memory": server("memory"),
        "memory_file": home / "memory.json",
    }
    text = CONFIGURATION.format(**{name: json.dumps(str(value)) for name, value in values.items()})
    (home / "toolgate.toml").write_text(text)
    gate = Gate(data=home / "data")
    gate.data.mkdir()
    for name in ["time", "git", "files", "memory"]:
        gate.command("upstream", "accept", name, "--all")
    with serving(gate.data) as served:
        yield served


@pytest.fixture
def through_the_gateway(gateway: Gate) -> Place:
    return Place(gateway, "http")


@pytest.fixture
def alice(gateway: Gate) -> Caller:
    return Caller(token=gateway.mint("--user", "alice"))


def test_a_user_sees_the_tools_of_every_server_that_is_there(client, through_the_gateway, alice):
    [listed] = client.ask(through_the_gateway, alice, [LIST])
    names = set(listed.names)
    assert {"help", "time_get_current_time", "time_convert_time", "git_status", "files_read_text_file"} <= names
    assert {"memory_create_entities", "memory_read_graph", "files_write_file"} <= names
    assert "files_move_file" not in names, "it is excluded"


def test_a_stranger_sees_only_what_was_opened_to_strangers(client, through_the_gateway):
    [listed] = client.ask(through_the_gateway, ANONYMOUS, [LIST])
    assert listed.names == ["help", "time_get_current_time"]


def test_calls_reach_their_servers_and_come_back(client, through_the_gateway, alice, gateway):
    note = str(gateway.data.parent / "folder" / "note.txt")
    questions = [
        Call("time_convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
        Call("files_read_text_file", {"path": note}),
        Call("git_status", {"repo_path": str(gateway.data.parent / "repository")}),
        Call("memory_read_graph", {}),
    ]
    time, file, git, memory = client.ask(through_the_gateway, alice, questions)
    assert not time.is_error and "21:00" in time.text
    assert not file.is_error and file.text == "hello from a file"
    assert not git.is_error and "No commits yet" in git.text
    assert not memory.is_error and "entities" in memory.text


def test_what_must_be_approved_is_not_run(client, through_the_gateway, alice, gateway):
    target = gateway.data.parent / "folder" / f"{client.name}.txt"
    write = Call("files_write_file", {"path": str(target), "content": "x"})
    [refused] = client.ask(through_the_gateway, alice, [write])
    told = str(refused)
    assert "approval" in told
    assert not target.exists()


def test_a_strangers_call_of_a_hidden_tool_is_a_call_of_an_unknown_one(frank_client, through_the_gateway):
    hidden, unknown = frank_client.ask(
        through_the_gateway, ANONYMOUS, [Call("memory_read_graph"), Call("memory_read_xxxxx")]
    )
    assert hidden.message.replace("memory_read_graph", "memory_read_xxxxx") == unknown.message


def test_wrong_arguments_are_refused_before_the_server_hears_of_them(client, through_the_gateway, alice):
    [refused] = client.ask(through_the_gateway, alice, [Call("time_convert_time", {"time": 12})])
    assert "time_convert_time" in str(refused)


def test_the_lock_is_a_file_people_can_read(gateway):
    lock = (gateway.data.parent / "toolgate.lock").read_text()
    assert "get_current_time" in lock and "sha256:" in lock
    line = [binary(), "upstream", "list", "--json", "--data", str(gateway.data)]
    listed = subprocess.run(
        line, capture_output=True, text=True, timeout=60, env=clean_environment(), cwd=gateway.data.parent
    )
    assert listed.returncode == 1, "one of them does not answer"
    told = json.loads(listed.stdout)
    states = {each["upstream"]: {tool["state"] for tool in each["tools"]} for each in told}
    assert states["time"] == {"accepted"} and states["files"] == {"accepted"}
    assert [each["fault"] is not None for each in told if each["upstream"] == "dead"] == [True]
