"""Upstreams behind TLS: whom the machine trusts is asked, over HTTP/2 where the server offers it; nobody else is."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
import trustme

import raw
from asking import Caller
from gate import Gate, binary, free_address, serving

SERVER = Path(__file__).parent / "servers" / "secure.py"
Start = Callable[..., Gate]


@pytest.fixture
def behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """A gate before a server that speaks these protocols; `trusted` says whether the machine knows its authority."""
    authority = trustme.CA()
    trusts = tmp_path / "authorities.pem"

    with ExitStack() as running:

        def start(*protocols: str, trusted: bool = True) -> Gate:
            (authority if trusted else trustme.CA()).cert_pem.write_to_path(str(trusts))
            monkeypatch.setenv("SSL_CERT_FILE", str(trusts))
            issued = authority.issue_cert("127.0.0.1")
            certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
            for part in issued.cert_chain_pems:
                part.write_to_path(str(certificate), append=True)
            issued.private_key_pem.write_to_path(str(key))
            address = free_address()
            port = address.rsplit(":", 1)[1]
            server = subprocess.Popen([sys.executable, str(SERVER), port, str(certificate), str(key), *protocols])
            running.callback(server.wait)
            running.callback(server.terminate)
            wait_until_it_listens(address, authority)
            (tmp_path / "toolgate.toml").write_text(
                f'[[upstreams]]\nname = "secure"\nurl = "https://{address}/mcp"\n\n[tools.asked_by]\neffect = "read"\n'
            )
            (tmp_path / "data").mkdir()
            if trusted:
                Gate(data=tmp_path / "data").command("upstream", "accept", "secure", "--all")
            return running.enter_context(serving(tmp_path / "data"))

        yield start


def wait_until_it_listens(address: str, authority: trustme.CA) -> None:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    deadline = time.monotonic() + 30
    while True:
        try:
            httpx.post(f"https://{address}/", verify=context, json={}, timeout=5)
            return
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.05)


def ask(gate: Gate, caller: Caller, together: int = 1) -> dict:
    body, headers = raw.stateless("tools/call", {"name": "asked_by", "arguments": {"together": together}})
    called = raw.message(raw.post(gate, body, headers, caller))
    return json.loads(called["result"]["content"][0]["text"])


def at_once(gate: Gate, caller: Caller) -> list[dict]:
    with ThreadPoolExecutor(8) as callers:
        return list(callers.map(lambda _: ask(gate, caller, together=8), range(8)))


def test_calls_share_one_connection_over_http_2(behind):
    gate = behind("h2", "http/1.1")
    alice, bob = (Caller(token=gate.mint("--user", name)) for name in ("alice", "bob"))
    answers = [ask(gate, alice) for _ in range(3)] + at_once(gate, bob)
    assert {answer["http"] for answer in answers} == {"2"}
    assert len({answer["port"] for answer in answers}) == 1


def test_calls_keep_their_connections_over_http_1(behind):
    gate = behind("http/1.1")
    alice = Caller(token=gate.mint("--user", "alice"))
    one_by_one = [ask(gate, alice) for _ in range(5)]
    assert {answer["http"] for answer in one_by_one} == {"1.1"}
    assert len({answer["port"] for answer in one_by_one}) == 1, "one after the other needs one"
    together = at_once(gate, alice)
    assert len({answer["port"] for answer in together}) == 8, "each at the same time needs its own"
    again = {answer["port"] for answer in at_once(gate, alice)}
    assert again == {answer["port"] for answer in together}, "and they are kept"


def test_a_server_whose_authority_is_not_known_is_never_asked(behind):
    gate = behind("h2", trusted=False)
    line = [binary(), "upstream", "diff", "--data", str(gate.data)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=gate.data.parent, timeout=60)
    told = done.stdout + done.stderr
    assert done.returncode != 0
    assert "secure does not answer" in told and "certificate" in told, told
