"""The way to an upstream: connections are kept, over HTTP/2 one for all; whom the machine does not trust is never asked; a
proxy is used where the environment names one."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
import trustme

import raw
from asking import Caller
from gate import Gate, binary, free_address, serving

SERVERS = Path(__file__).parent / "servers"


class Ground:
    """Where servers are started, and gates before them; all end with the test."""

    def __init__(self, directory: Path, environment: pytest.MonkeyPatch, running: ExitStack) -> None:
        self.directory = directory
        self.environment = environment
        self.running = running
        self.authority = trustme.CA()

    def start(self, script: str, *arguments: str) -> str:
        """Its address, once somebody listens there."""
        address = free_address()
        host, port = address.rsplit(":", 1)
        server = subprocess.Popen([sys.executable, str(SERVERS / script), port, *arguments], stderr=subprocess.DEVNULL)
        self.running.callback(server.wait)
        self.running.callback(server.terminate)
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=5).close()
                return address
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline, f"{script} does not listen"
                time.sleep(0.05)

    def secured(self, *protocols: str) -> str:
        """A server behind TLS that speaks these protocols."""
        issued = self.authority.issue_cert("127.0.0.1")
        certificate, key = self.directory / "server.pem", self.directory / "server.key"
        certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))
        return f"https://{self.start('asked.py', str(certificate), str(key), *protocols)}/mcp"

    def trusts(self, authority: trustme.CA) -> None:
        file = self.directory / "authorities.pem"
        authority.cert_pem.write_to_path(str(file))
        self.environment.setenv("SSL_CERT_FILE", str(file))

    def gate_before(self, url: str) -> Gate:
        (self.directory / "toolgate.toml").write_text(
            f'[[upstreams]]\nname = "there"\nurl = "{url}"\n\n[tools.asked_by]\neffect = "read"\n'
        )
        (self.directory / "data").mkdir()
        return Gate(data=self.directory / "data")

    def gate(self, url: str) -> Gate:
        self.gate_before(url).command("upstream", "accept", "there", "--all")
        return self.running.enter_context(serving(self.directory / "data"))


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    with ExitStack() as running:
        yield Ground(tmp_path, monkeypatch, running)


def ask(gate: Gate, caller: Caller, together: int = 1) -> dict:
    body, headers = raw.stateless("tools/call", {"name": "asked_by", "arguments": {"together": together}})
    called = raw.message(raw.post(gate, body, headers, caller))
    return json.loads(called["result"]["content"][0]["text"])


def at_once(gate: Gate, caller: Caller) -> list[dict]:
    with ThreadPoolExecutor(8) as callers:
        return list(callers.map(lambda _: ask(gate, caller, together=8), range(8)))


def test_calls_share_one_connection_over_http_2(ground):
    ground.trusts(ground.authority)
    gate = ground.gate(ground.secured("h2", "http/1.1"))
    alice, bob = (Caller(token=gate.mint("--user", name)) for name in ("alice", "bob"))
    answers = [ask(gate, alice) for _ in range(3)] + at_once(gate, bob)
    assert {answer["http"] for answer in answers} == {"2"}
    assert len({answer["port"] for answer in answers}) == 1


def test_calls_keep_their_connections_over_http_1(ground):
    ground.trusts(ground.authority)
    gate = ground.gate(ground.secured("http/1.1"))
    alice = Caller(token=gate.mint("--user", "alice"))
    one_by_one = [ask(gate, alice) for _ in range(5)]
    assert {answer["http"] for answer in one_by_one} == {"1.1"}
    assert len({answer["port"] for answer in one_by_one}) == 1, "one after the other needs one"
    together = at_once(gate, alice)
    assert len({answer["port"] for answer in together}) == 8, "each at the same time needs its own"
    again = {answer["port"] for answer in at_once(gate, alice)}
    assert again == {answer["port"] for answer in together}, "and they are kept"


def test_a_server_whose_authority_is_not_known_is_never_asked(ground):
    ground.trusts(trustme.CA())
    gate = ground.gate_before(ground.secured("h2"))
    line = [binary(), "upstream", "diff", "--data", str(gate.data)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=gate.data.parent, timeout=60)
    told = done.stdout + done.stderr
    assert done.returncode != 0
    assert "there does not answer" in told and "certificate" in told, told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_the_environment_names_is_used(ground, scheme):
    log = ground.directory / "proxy.log"
    proxy = ground.start("proxy.py", str(log))
    if scheme == "https":
        ground.trusts(ground.authority)
        url = ground.secured("h2", "http/1.1")
        seen = f"CONNECT {httpx.URL(url).netloc.decode()}"
    else:
        url = f"http://{ground.start('asked.py')}/mcp"
        seen = f"POST {url}"
    ground.environment.setenv(f"{scheme}_proxy", f"http://gate:s3cret@{proxy}")
    gate = ground.gate(url)
    ground.environment.delenv(f"{scheme}_proxy")
    alice = Caller(token=gate.mint("--user", "alice"))
    assert ask(gate, alice)["http"] == ("2" if scheme == "https" else "1.1")
    lines = log.read_text().splitlines()
    basic = base64.b64encode(b"gate:s3cret").decode()
    assert lines and set(lines) == {f"{seen} Basic {basic}"}


def test_no_proxy_is_used_where_the_environment_says_so(ground):
    log = ground.directory / "proxy.log"
    proxy = ground.start("proxy.py", str(log))
    ground.environment.setenv("http_proxy", f"http://{proxy}")
    ground.environment.setenv("no_proxy", "127.0.0.1")
    gate = ground.gate(f"http://{ground.start('asked.py')}/mcp")
    assert ask(gate, Caller(token=gate.mint("--user", "alice")))["http"] == "1.1"
    assert not log.exists()
