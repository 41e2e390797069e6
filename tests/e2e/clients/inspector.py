"""The MCP Inspector's command line. It asks one question per process."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from asking import Answer, Call, Caller, Listed, Place, Question, Refused, Result
from gate import clean_environment

from .node import node, packages

WITHIN_SECONDS = 60
LAUNCHER = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


class Inspector:
    calls_unlisted = False

    def __init__(self, era: str) -> None:
        self.era = era
        self.name = f"inspector-{era}"

    def ask(self, place: Place, caller: Caller, questions: list[Question]) -> list[Answer]:
        # A home of its own: the Inspector keeps a catalogue and credentials in the user's.
        with tempfile.TemporaryDirectory() as home:
            config = Path(home) / "servers.json"
            config.write_text(json.dumps({"mcpServers": {"gate": server(place, caller)}}))
            return [self._ask_one(home, config, question) for question in questions]

    def _ask_one(self, home: str, config: Path, question: Question) -> Answer:
        line = [node(), str(packages() / LAUNCHER), "--cli", "--config", str(config), "--server", "gate"]
        line += ["--protocol-era", self.era, "--format", "json", "--quiet", "--stored-auth-only"]
        line += method(question)
        environment = {**clean_environment(), "HOME": home, "MCP_INSPECTOR_SECRET_STORE": "memory"}
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WITHIN_SECONDS, env=environment
        )
        return answer(done)


def server(place: Place, caller: Caller) -> dict[str, Any]:
    if place.transport == "http":
        return {"type": "streamable-http", "url": place.gate.url, "headers": caller.headers}
    command, *arguments = place.gate.stdio_command
    return {"type": "stdio", "command": command, "args": arguments, "env": caller.environment}


def method(question: Question) -> list[str]:
    if isinstance(question, Call):
        arguments = json.dumps(question.arguments)
        return ["--method", "tools/call", "--tool-name", question.tool, "--tool-args-json", arguments]
    return ["--method", "tools/list"]


def answer(done: subprocess.CompletedProcess[str]) -> Answer:
    """Results, `isError` ones too, are JSON on standard output; everything else is JSON on standard error."""
    if done.stdout.strip():
        result = json.loads(done.stdout)["result"]
        return Listed(result["tools"]) if "tools" in result else Result(result)
    try:
        error = json.loads(done.stderr)["error"]
    except (ValueError, KeyError) as unreadable:
        raise AssertionError(f"exit code {done.returncode}\n{done.stderr}") from unreadable
    assert error["code"] == "error", f"the Inspector gave up by itself: {error}"
    return Refused(code=None, message=error["message"])
