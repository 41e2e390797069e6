"""The official conformance suite against the gate, in front of a server that has everything the suite asks for.

Both revisions of the suite, before a server of either era, as a child and over HTTP. The suite runs once for each; a
test is one scenario of it. What a scenario needs and what can't be is in `scenarios.py`.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import suite
from gate import Gate, serving
from scenarios import ERA_OF, EXTENSIONS, SCENARIOS, impossible, runnable
from servers.conformance.definitions import PROMPTS, RESOURCES, TEMPLATES
from servers.conformance.tools import TOOLS

SERVER = Path(__file__).parent / "servers" / "conformance.py"
ERAS = ["modern", "legacy"]
TRANSPORTS = ["child", "http"]
LISTENING_WITHIN_SECONDS = 10
ASK = 'ask = ["elicitation", "sampling", "roots"]'

Findings = Callable[[str, str, str], suite.Findings]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-B", str(SERVER), *arguments]


@contextmanager
def listening(era: str, home: Path) -> Iterator[str]:
    """The server over HTTP; gives its address."""
    port = home / "port"
    process = subprocess.Popen(command(era, "http", str(port)))
    try:
        deadline = time.monotonic() + LISTENING_WITHIN_SECONDS
        while not port.exists():
            assert process.poll() is None and time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port.read_text()}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=10)


def facts() -> str:
    """Everything is for anyone: the suite has no credentials."""
    resources = [each["uri"] for each in RESOURCES] + [each["uriTemplate"] for each in TEMPLATES]
    named = [("tools", list(TOOLS)), ("prompts", [each["name"] for each in PROMPTS]), ("resources", resources)]
    sections = [f"[{kind}.{json.dumps(name)}]" for kind, names in named for name in names]
    return "\n\n".join(f'{section}\npermission = "unauthenticated"' for section in sections)


@contextmanager
def gate_before(era: str, transport: str, home: Path) -> Iterator[Gate]:
    """A gate whose one upstream is the server of this era, every tool of it accepted and open to anyone."""
    with ExitStack() as running:
        if transport == "http":
            reached = f"url = {json.dumps(running.enter_context(listening(era, home)))}"
        else:
            program, *arguments = command(era, "stdio")
            reached = f"command = {json.dumps(program)}\nargs = {json.dumps(arguments)}"
        (home / "toolgate.toml").write_text(f'[[upstreams]]\nname = "fixture"\n{ASK}\n{reached}\n\n{facts()}\n')
        data = home / "data"
        data.mkdir()
        Gate(data=data).command("upstream", "accept", "fixture", "--all")
        yield running.enter_context(serving(data))


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Findings]:
    """Runs the suite when a scenario of that run is first asked for, and once."""
    with ExitStack() as running:

        @functools.cache
        def found(revision: str, era: str, transport: str) -> suite.Findings:
            # a gate for each: the suite leaves calls behind that wait for answers
            home = tmp_path_factory.mktemp(f"{revision}-{era}-{transport}")
            gate = running.enter_context(gate_before(era, transport, home))
            return suite.run(gate.url, revision, tmp_path_factory.mktemp("suite"))

        yield found


RUNS = [(revision, era, transport) for era in ERAS for transport in TRANSPORTS for revision in SCENARIOS]


@pytest.mark.parametrize(
    ("revision", "era", "transport", "scenario"),
    [(*run, scenario) for run in RUNS for scenario in runnable(*run)],
)
def test_scenario(findings: Findings, revision: str, era: str, transport: str, scenario: str) -> None:
    complaints = findings(revision, era, transport).complaints(scenario)
    assert not complaints, complaints


def test_what_is_called_impossible_still_is(findings: Findings) -> None:
    passed = [(*run, name) for run in RUNS for name in impossible(*run) if not findings(*run).complaints(name)]
    assert not passed, "they pass: take them out of IMPOSSIBLE"


@pytest.mark.parametrize("revision", SCENARIOS)
def test_no_scenario_of_the_suite_is_forgotten(findings: Findings, revision: str) -> None:
    ran = findings(revision, ERA_OF[revision], "child").checks
    assert {name for name in ran if not name.startswith(EXTENSIONS)} == set(SCENARIOS[revision])
