"""An MCP server that says how it was asked: `asked.py PORT`, or over TLS `asked.py PORT CERTIFICATE KEY PROTOCOL…`,
protocols of `h2` and `http/1.1`."""

from __future__ import annotations

import asyncio
import json
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config

VERSION = "2026-07-28"
TOOL = {
    "name": "asked_by",
    "description": "How this server was asked.",
    "inputSchema": {"type": "object", "properties": {"together": {"type": "integer"}}},
}


WAITING: list[asyncio.Future] = []


async def until_together(wanted: int) -> None:
    """Holds calls until as many are here as each of them wants."""
    here = asyncio.get_running_loop().create_future()
    WAITING.append(here)
    if len(WAITING) >= wanted:
        for each in WAITING:
            each.set_result(None)
        WAITING.clear()
    await here


async def result(method: str, params: dict, scope: dict) -> dict | None:
    match method:
        case "server/discover":
            return {
                "supportedVersions": [VERSION],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asked", "version": "1"},
                "ttlMs": 60_000,
                "cacheScope": "private",
            }
        case "tools/list":
            return {"tools": [TOOL], "ttlMs": 60_000, "cacheScope": "private"}
        case "tools/call":
            await until_together(params["arguments"].get("together", 1))
            # the port at the other end tells connections apart
            asked = {"http": scope["http_version"], "port": scope["client"][1]}
            return {"content": [{"type": "text", "text": json.dumps(asked)}]}
    return None


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        return await send({"type": "lifespan.shutdown.complete"})
    body, more = b"", True
    while more:
        piece = await receive()
        body, more = body + piece.get("body", b""), piece.get("more_body", False)
    asked = json.loads(body) if body else {}
    found = await result(asked.get("method", ""), asked.get("params", {}), scope)
    answer = {"jsonrpc": "2.0", "id": asked.get("id")}
    if found is None:
        answer["error"] = {"code": -32601, "message": "there is no such method here"}
    else:
        answer["result"] = {"resultType": "complete", **found}
    head = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
    await send(head)
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


def main() -> None:
    port, *secured = sys.argv[1:]
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    if secured:
        config.certfile, config.keyfile, *config.alpn_protocols = secured
    asyncio.run(serve(app, config))


main()
