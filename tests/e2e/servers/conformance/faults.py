"""The ways a request can end other than with its result."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class Fault(Exception):
    """A JSON-RPC error, and the HTTP status it has where it travels over HTTP."""

    def __init__(self, code: int, message: str, data: Any = None, status: int = 200) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.status = code, message, data, status

    def response(self, id: Any) -> dict[str, Any]:
        error = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": id, "error": error}


class Refused(Exception):
    """The client would not or could not give what a tool asked for: an answer of the tool, not of the protocol."""


class InputRequired(Exception):
    """The modern era's way to ask: the request ends here and the client comes again with the answers."""

    def __init__(self, requests: dict[str, Any], state: str | None) -> None:
        super().__init__("input required")
        self.requests, self.state = requests, state


class Cancelled(Exception):
    """The client does not want the answer any more: none is sent."""
