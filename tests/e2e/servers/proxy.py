"""An HTTP proxy: `proxy.py PORT LOG`. Passes requests on, opens tunnels, and writes down who asked for what."""

from __future__ import annotations

import select
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

UPSTREAM = httpx.Client(trust_env=False)


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def noted(self) -> None:
        with open(sys.argv[2], "a") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Proxy-Authorization', '-')}\n")

    def do_POST(self) -> None:
        self.noted()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kept = {name: value for name, value in self.headers.items() if name.lower() != "proxy-authorization"}
        answer = UPSTREAM.post(self.path, content=body, headers=kept)
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers["content-type"])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def do_CONNECT(self) -> None:
        self.noted()
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as there:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: there, there: self.connection}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    piece = end.recv(65536)
                    if not piece:
                        self.close_connection = True
                        return
                    ends[end].sendall(piece)

    def log_message(self, *_) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Proxy).serve_forever()
