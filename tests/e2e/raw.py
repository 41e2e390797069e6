"""MCP over plain HTTP, for what the SDKs hide: status codes, headers and bytes."""

from __future__ import annotations

import json
from typing import Any

import httpx

from asking import Caller
from gate import Gate

LEGACY = "2025-11-25"
STATELESS = "2026-07-28"
ACCEPT = "application/json, text/event-stream"


def post(gate: Gate, body: Any, headers: dict[str, str] | None = None, caller: Caller = Caller()) -> httpx.Response:
    """Sends `body` as it is when it is bytes, else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Accept": ACCEPT, "Content-Type": "application/json", **caller.headers, **(headers or {})}
    return httpx.post(gate.url, content=content, headers=sent, timeout=10)


def message(response: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC answer, whether it came as JSON or as the last event of a stream."""
    if response.headers["content-type"].startswith("application/json"):
        return response.json()
    assert response.headers["content-type"].startswith("text/event-stream"), response.headers["content-type"]
    data = [line[len("data:") :] for line in response.text.splitlines() if line.startswith("data:")]
    return json.loads(data[-1])


def request(method: str, params: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def stateless(method: str, params: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """A complete request of protocol 2026-07-28: body and the headers that mirror it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = request(method, {**(params or {}), "_meta": meta})
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
    if "name" in (params or {}):
        headers["Mcp-Name"] = params["name"]
    return body, headers


def initialize(version: str = LEGACY) -> dict[str, Any]:
    info = {"name": "raw", "version": "1"}
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": info})


def open_session(gate: Gate, caller: Caller = Caller(), version: str = LEGACY) -> dict[str, str]:
    """The handshake of the older era; gives the headers that later requests carry."""
    opened = post(gate, initialize(version), caller=caller)
    assert opened.status_code == 200, opened.text
    headers = {"MCP-Protocol-Version": version}
    if "mcp-session-id" in opened.headers:
        headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
    noted = post(gate, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers, caller)
    assert noted.status_code == 202, noted.text
    return headers
