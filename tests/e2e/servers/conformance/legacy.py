"""Protocol 2025-11-25: a handshake opens a session, and the server may send requests of its own."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable
from typing import Any

from .faults import INVALID_PARAMS, METHOD_NOT_FOUND, Cancelled, Fault, Refused
from .offers import CAPABILITIES, SERVER, SHARED, VERSION, answer
from .shelf import Shelf
from .turn import LEVELS, LegacyTurn, Send

ANSWER_WITHIN_SECONDS = 30


class Session:
    """What is remembered of one client."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        # What belongs to no request, for the stream that is there for it. None ends the stream.
        self.pushed: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.capabilities: dict[str, Any] = {}
        # Until a client says otherwise it gets everything.
        self.level = LEVELS[0]
        self.subscribed: set[str] = set()
        self.numbers = itertools.count(1)
        # Requests of ours that the client has not answered: to which request of its own they belong, and who waits.
        self.asked: dict[str, tuple[Any, queue.SimpleQueue[Any]]] = {}
        shelf.watchers.append(self.tell)

    def end(self) -> None:
        self.shelf.watchers.remove(self.tell)
        self.pushed.put(None)

    def tell(self, method: str, uri: str | None) -> None:
        if uri is None:
            self.pushed.put({"jsonrpc": "2.0", "method": method})
        elif uri in self.subscribed:
            self.pushed.put({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}})

    def respond(self, message: dict[str, Any], send: Send) -> dict[str, Any] | None:
        """The response to a request, None if it was cancelled; `send` takes what goes before it."""
        id, method, params = message["id"], message["method"], message.get("params") or {}
        try:
            if method in SHARED:
                turn = LegacyTurn(self.asker(id, send), params, self.capabilities, self.level, send)
                result = answer(self.shelf, method, params, turn)
            else:
                result = self.manage(method, params)
        except Fault as fault:
            return fault.response(id)
        except Cancelled:
            return None
        return {"jsonrpc": "2.0", "id": id, "result": result}

    def manage(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                self.capabilities = params.get("capabilities") or {}
                return {"protocolVersion": VERSION["legacy"], "capabilities": CAPABILITIES, "serverInfo": SERVER}
            case "ping":
                return {}
            case "logging/setLevel" if params.get("level") in LEVELS:
                self.level = params["level"]
                return {}
            case "resources/subscribe" | "resources/unsubscribe" if isinstance(params.get("uri"), str):
                change = self.subscribed.add if method == "resources/subscribe" else self.subscribed.discard
                change(params["uri"])
                return {}
            case "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe":
                raise Fault(INVALID_PARAMS, "level or uri is missing or wrong")
            case _:
                raise Fault(METHOD_NOT_FOUND, f"Method not found: {method}")

    def asker(self, during: Any, send: Send) -> Callable[[dict[str, Any]], Callable[[], Any]]:
        """Sends a question on the stream of the request it arose in; what comes back waits for the answer."""

        def ask(question: dict[str, Any]) -> Callable[[], Any]:
            id, answers = f"ask-{next(self.numbers)}", queue.SimpleQueue()
            self.asked[id] = (during, answers)
            send({"jsonrpc": "2.0", "id": id, **question})
            return lambda: self.answered(id, answers)

        return ask

    def answered(self, id: str, answers: queue.SimpleQueue[Any]) -> Any:
        try:
            response = answers.get(timeout=ANSWER_WITHIN_SECONDS)
        except queue.Empty as nobody:
            raise Refused("the client did not answer in time") from nobody
        finally:
            self.asked.pop(id, None)
        if response is None:
            raise Cancelled
        if "error" in response:
            raise Refused(f"the client refused: {response['error'].get('message')}")
        return response.get("result")

    def hear(self, message: dict[str, Any]) -> None:
        """A notification, or the answer to a question."""
        if message.get("method") == "notifications/cancelled":
            cancelled = (message.get("params") or {}).get("requestId")
            for during, answers in list(self.asked.values()):
                if during == cancelled:
                    answers.put(None)
        elif "method" not in message and message.get("id") in self.asked:
            self.asked[message["id"]][1].put(message)


class Legacy:
    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.sessions: dict[str, Session] = {}

    def open(self) -> Session:
        return Session(self.shelf)
