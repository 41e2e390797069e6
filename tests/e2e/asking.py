"""The words the tests use: who asks, over which transport, what they ask and what comes back.

Every client is driven through the same two questions, so that one test is the same claim for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from gate import Gate

TASK_HEADER = "X-Toolgate-Task-ID"


@dataclass(frozen=True)
class Caller:
    """What a request carries to say who asks. Anonymous is nothing at all."""

    token: str | None = None
    task_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        headers = {}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.task_key is not None:
            headers[TASK_HEADER] = self.task_key
        return headers

    @property
    def environment(self) -> dict[str, str]:
        assert self.task_key is None, "a task header needs HTTP"
        return {} if self.token is None else {"TOOLGATE_TOKEN": self.token}


ANONYMOUS = Caller()
BAD_TOKEN = Caller(token="not-a-token")


@dataclass(frozen=True)
class Place:
    """A gate and the transport it is reached by."""

    gate: Gate
    transport: str  # "http" or "stdio"


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


class List:
    """`tools/list`, every page."""


LIST = List()
Question = Call | List


@dataclass(frozen=True)
class Listed:
    tools: list[dict[str, Any]]

    @property
    def names(self) -> list[str]:
        return [tool["name"] for tool in self.tools]


@dataclass(frozen=True)
class Result:
    """What `tools/call` gave back, as the client hands it over."""

    raw: dict[str, Any]

    @property
    def is_error(self) -> bool:
        return bool(self.raw.get("isError"))

    @property
    def structured(self) -> Any:
        return self.raw.get("structuredContent")

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.raw["content"] if block["type"] == "text")


@dataclass(frozen=True)
class Refused:
    """A JSON-RPC error. `code` is None where the client's own output does not carry it."""

    code: int | None
    message: str


Answer = Listed | Result | Refused


class Client(Protocol):
    name: str
    calls_unlisted: bool
    """Whether it sends a call of a tool that its own `tools/list` did not show."""

    def ask(self, place: Place, caller: Caller, questions: list[Question]) -> list[Answer]:
        """Connects once as `caller`, asks each question in turn, disconnects."""
        ...
