"""Streamable HTTP at any path of a free port. An answer is plain JSON until something has to go before it."""

from __future__ import annotations

import json
import os
import queue
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .faults import INVALID_REQUEST, PARSE_ERROR, Fault
from .front_door import check_headers, is_local
from .legacy import Legacy, Session
from .modern import Modern
from .offers import VERSION

# How soon a stream notices that nobody reads it any more.
BREATH_SECONDS = 1


def serve_http(server: Modern | Legacy, port_file: str) -> None:
    handler = type("Handler", (ModernHandler if isinstance(server, Modern) else LegacyHandler,), {"mcp": server})
    listening = Listening(("127.0.0.1", 0), handler)
    # Renamed into place, so that whoever waits for the file never reads half a number.
    Path(f"{port_file}.new").write_text(str(listening.server_address[1]))
    os.replace(f"{port_file}.new", port_file)
    listening.serve_forever()


class Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no news."""


class Carrier(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    mcp: Any
    streaming = False

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.streaming = False
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_local(self.headers):
            return self.refuse(403)
        try:
            message = json.loads(body)
        except ValueError:
            return self.whole(Fault(PARSE_ERROR, "that is not JSON").response(None), 400)
        if not isinstance(message, dict):
            return self.whole(Fault(INVALID_REQUEST, "a message is an object").response(None), 400)
        self.take(message)

    def do_GET(self) -> None:
        self.refuse(405)

    def do_DELETE(self) -> None:
        self.refuse(405)

    def take(self, message: dict[str, Any]) -> None:
        raise NotImplementedError

    def refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def whole(self, message: dict[str, Any], status: int = 200, session: str | None = None) -> None:
        """The last message: as JSON, or as the last event where a stream has begun."""
        if self.streaming:
            return self.event(message)
        body = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if session is not None:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(body)

    def stream(self) -> None:
        if not self.streaming:
            self.streaming, self.close_connection = True, True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-cache")
            self.send_header("Connection", "close")
            self.end_headers()

    def event(self, message: dict[str, Any]) -> None:
        self.stream()
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")

    def pour(self, messages: queue.SimpleQueue[Any]) -> None:
        """Sends what comes until None does, or the client is gone."""
        self.stream()
        while True:
            try:
                message = messages.get(timeout=BREATH_SECONDS)
            except queue.Empty:
                self.wfile.write(b": still here\n\n")
                continue
            if message is None:
                return
            self.event(message)


class ModernHandler(Carrier):
    mcp: Modern

    def take(self, message: dict[str, Any]) -> None:
        if "method" not in message or "id" not in message:
            return self.refuse(202)
        try:
            check_headers(self.headers, message)
            if message["method"] == "subscriptions/listen":
                return self.listen(message)
        except Fault as fault:
            return self.whole(fault.response(message["id"]), fault.status)
        response, status = self.mcp.respond(message, self.event)
        self.whole(response, status)

    def listen(self, message: dict[str, Any]) -> None:
        messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            self.mcp.listen(messages, message, messages.put)
            self.pour(messages)
        except OSError:
            pass
        finally:
            self.mcp.hang_up(messages)


class LegacyHandler(Carrier):
    mcp: Legacy

    def take(self, message: dict[str, Any]) -> None:
        if message.get("method") == "initialize" and "id" in message:
            return self.open(message)
        session = self.session()
        if session is None:
            return
        if "method" not in message or "id" not in message:
            session.hear(message)
            return self.refuse(202)
        response = session.respond(message, self.event)
        if response is not None:
            self.whole(response)
        elif not self.streaming:
            self.refuse(202)

    def open(self, message: dict[str, Any]) -> None:
        name = secrets.token_urlsafe(16)
        self.mcp.sessions[name] = session = self.mcp.open()
        self.whole(session.respond(message, self.event), session=name)

    def session(self) -> Session | None:
        """The session a request names; refuses the request where there is none."""
        name, version = self.headers.get("Mcp-Session-Id"), self.headers.get("MCP-Protocol-Version")
        if not is_local(self.headers):
            self.refuse(403)
        elif name is None or version not in (None, VERSION["legacy"]):
            self.refuse(400)
        elif name not in self.mcp.sessions:
            self.refuse(404)
        else:
            return self.mcp.sessions[name]
        return None

    def do_GET(self) -> None:
        session = self.session()
        if session is not None:
            self.streaming = False
            self.pour(session.pushed)

    def do_DELETE(self) -> None:
        session = self.session()
        if session is not None:
            del self.mcp.sessions[self.headers["Mcp-Session-Id"]]
            session.end()
            self.refuse(204)
