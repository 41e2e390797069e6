"""Protocol 2026-07-28: no handshake, no sessions; every request says who asks and what it can do."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

from .faults import INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, Fault, InputRequired
from .offers import CACHEABLE, CAPABILITIES, SERVER, SHARED, VERSION, answer
from .shelf import Shelf
from .turn import LEVELS, ModernTurn, Send

META = "io.modelcontextprotocol/"
FILTERS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}


class Modern:
    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.lock = threading.Lock()
        # Open `subscriptions/listen` streams: what each wants and how to reach it, by an id of the carrier's own.
        self.streams: dict[object, tuple[Any, dict[str, Any], Send]] = {}
        shelf.watchers.append(self.tell)

    def respond(self, message: dict[str, Any], send: Send) -> tuple[dict[str, Any], int]:
        """The response to a request, with its HTTP status; `send` takes what goes before it."""
        id, method, params = message["id"], message["method"], message.get("params") or {}
        try:
            meta = checked_meta(params)
            if method == "server/discover":
                result = {"supportedVersions": [VERSION["modern"]], "capabilities": CAPABILITIES}
            elif method in SHARED:
                capabilities, level = meta[META + "clientCapabilities"], meta.get(META + "logLevel")
                turn = ModernTurn(about(method, params), params, capabilities, level, send)
                result = answer(self.shelf, method, params, turn)
            else:
                raise Fault(METHOD_NOT_FOUND, f"Method not found: {method}", status=404)
            result = {"resultType": "complete", **result, **caching(method)}
        except InputRequired as needed:
            result = {"resultType": "input_required", "inputRequests": needed.requests}
            if needed.state is not None:
                result["requestState"] = needed.state
        except Fault as fault:
            return fault.response(id), fault.status
        return {"jsonrpc": "2.0", "id": id, "result": {**result, "_meta": {META + "serverInfo": SERVER}}}, 200

    def listen(self, key: object, message: dict[str, Any], send: Send) -> None:
        """Opens a stream. The acknowledgement is the first thing on it."""
        params = message.get("params") or {}
        checked_meta(params)
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise Fault(INVALID_PARAMS, "notifications is missing", status=400)
        known = {name: wanted[name] for name in [*FILTERS.values(), "resourceSubscriptions"] if wanted.get(name)}
        with self.lock:
            send(tagged("notifications/subscriptions/acknowledged", message["id"], notifications=known))
            self.streams[key] = (message["id"], known, send)

    def hang_up(self, key: object) -> None:
        with self.lock:
            self.streams.pop(key, None)

    def tell(self, method: str, uri: str | None) -> None:
        with self.lock:
            for id, wanted, send in self.streams.values():
                if uri is None and wanted.get(FILTERS[method]):
                    send(tagged(method, id))
                elif uri is not None and uri in wanted.get("resourceSubscriptions", []):
                    send(tagged(method, id, uri=uri))


def checked_meta(params: dict[str, Any]) -> dict[str, Any]:
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise Fault(INVALID_PARAMS, "_meta is missing", status=400)
    version, capabilities = meta.get(META + "protocolVersion"), meta.get(META + "clientCapabilities")
    if not isinstance(version, str) or not isinstance(capabilities, dict):
        raise Fault(INVALID_PARAMS, "_meta lacks protocolVersion or clientCapabilities", status=400)
    if version != VERSION["modern"]:
        data = {"supported": [VERSION["modern"]], "requested": version}
        raise Fault(UNSUPPORTED_VERSION, f"Unsupported protocol version: {version}", data, status=400)
    if meta.get(META + "logLevel", LEVELS[0]) not in LEVELS:
        raise Fault(INVALID_PARAMS, "there is no such log level")
    return meta


def caching(method: str) -> dict[str, Any]:
    return {"ttlMs": 0, "cacheScope": "public"} if method in CACHEABLE else {}


def about(method: str, params: dict[str, Any]) -> str:
    """Which request a state belongs to: all of it but what differs from round to round."""
    lasting = {name: params[name] for name in ("name", "uri", "arguments") if name in params}
    return hashlib.sha256(json.dumps([method, lasting], sort_keys=True).encode()).hexdigest()


def tagged(method: str, id: Any, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": {"_meta": {META + "subscriptionId": id}, **params}}
