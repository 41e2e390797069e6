"""An MCP server whose one tool is described by a file: `changing.py DESCRIPTION_FILE`. It tells when the file changes."""

import json
import sys
import threading
import time
from pathlib import Path

described = Path(sys.argv[1])
speaking = threading.Lock()


def say(message: dict) -> None:
    with speaking:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def watch() -> None:
    last = described.read_text()
    while True:
        time.sleep(0.05)
        now = described.read_text()
        if now != last:
            last = now
            say({"method": "notifications/tools/list_changed"})


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "changing", "version": "1"},
        }
    if method == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}}
        return {"tools": [{"name": "lookup", "description": described.read_text(), "inputSchema": schema}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"looked up {params['arguments'].get('word')}"}]}
    return {}


threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] not in ("initialize", "tools/list", "tools/call", "ping"):
        say({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}})
        continue
    say({"id": message["id"], "result": answer(message["method"], message.get("params") or {})})
