"""One message a line, on standard input and output. Every request is answered in a thread of its own."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

from .faults import INVALID_REQUEST, PARSE_ERROR, Fault
from .legacy import Legacy
from .modern import Modern

speaking = threading.Lock()


def say(message: dict[str, Any]) -> None:
    with speaking:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def serve_stdio(server: Modern | Legacy) -> None:
    take = modern(server) if isinstance(server, Modern) else legacy(server)
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            say(Fault(PARSE_ERROR, "that is not JSON").response(None))
            continue
        if not isinstance(message, dict):
            say(Fault(INVALID_REQUEST, "a message is an object").response(None))
            continue
        take(message)


def modern(server: Modern) -> Callable[[dict[str, Any]], None]:
    running: set[Any] = set()

    def answer(message: dict[str, Any]) -> None:
        response, _ = server.respond(message, say)
        if message["id"] in running:
            running.discard(message["id"])
            say(response)

    def take(message: dict[str, Any]) -> None:
        if message.get("method") == "notifications/cancelled":
            cancelled = (message.get("params") or {}).get("requestId")
            running.discard(cancelled)
            server.hang_up(cancelled)
        elif message.get("method") == "subscriptions/listen" and "id" in message:
            try:
                server.listen(message["id"], message, say)
            except Fault as fault:
                say(fault.response(message["id"]))
        elif "method" in message and "id" in message:
            running.add(message["id"])
            threading.Thread(target=answer, args=(message,), daemon=True).start()

    return take


def legacy(server: Legacy) -> Callable[[dict[str, Any]], None]:
    session = server.open()

    def push() -> None:
        while True:
            say(session.pushed.get())

    def answer(message: dict[str, Any]) -> None:
        response = session.respond(message, say)
        if response is not None:
            say(response)

    def take(message: dict[str, Any]) -> None:
        if "method" not in message or "id" not in message:
            session.hear(message)
        elif message["method"] == "initialize":
            # In order: what follows depends on what the client declared.
            answer(message)
        else:
            threading.Thread(target=answer, args=(message,), daemon=True).start()

    threading.Thread(target=push, daemon=True).start()
    return take
