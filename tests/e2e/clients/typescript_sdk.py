"""The official TypeScript SDK (`@modelcontextprotocol/client`), in a Node process that is given and gives JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from asking import Answer, Call, Caller, Listed, Place, Question, Refused, Result
from gate import clean_environment

from .node import node, packages

SCRIPT = Path(__file__).with_suffix(".mjs")
WITHIN_SECONDS = 60


class TypeScriptSdk:
    calls_unlisted = True

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.name = f"typescript-{mode}"

    def ask(self, place: Place, caller: Caller, questions: list[Question]) -> list[Answer]:
        order = {
            "packages": str(packages()),
            "mode": self.mode,
            "server": server(place, caller),
            "questions": [question_json(question) for question in questions],
        }
        done = subprocess.run(
            [node(), str(SCRIPT)],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            timeout=WITHIN_SECONDS,
            env=clean_environment(),
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}"
        told = json.loads(done.stdout)
        expected = "legacy" if self.mode == "legacy" else "modern"
        assert told["era"] == expected, f"negotiated {told['era']}"
        return [answer(each) for each in told["answers"]]


def server(place: Place, caller: Caller) -> dict[str, Any]:
    if place.transport == "http":
        return {"url": place.gate.url, "headers": caller.headers}
    command, *arguments = place.gate.stdio_command
    return {"command": command, "args": arguments, "env": caller.environment}


def question_json(question: Question) -> dict[str, Any]:
    if isinstance(question, Call):
        return {"call": question.tool, "arguments": question.arguments}
    return {"list": True}


def answer(told: dict[str, Any]) -> Answer:
    if "tools" in told:
        return Listed(told["tools"])
    if "result" in told:
        return Result(told["result"])
    return Refused(code=told["error"]["code"], message=told["error"]["message"])
