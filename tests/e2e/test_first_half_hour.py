"""The first half hour, at a terminal: a server is added and accepted, a client connected; a write waits for its approval, runs,
and is undone. What the terminal shows is the transcript in the README: written anew with TOOLGATE_WRITE_TRANSCRIPT=1, else
compared."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client

from snippets import REPOSITORY, Session
from terminal import Terminal

README = REPOSITORY / "README.md"
BEGIN, END = "<!-- what tests/e2e/test_first_half_hour.py saw -->\n", "<!-- end -->\n"
WITHIN_SECONDS = 60.0
OWN_PART = """\
[tools.files_move_file.undo]
tool = "files_move_file"
arguments = "{source: input.destination, destination: input.source}"
"""


class Transcript:
    """What was typed and shown, without what differs from run to run."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.parts: list[tuple[str, Terminal | None]] = []

    def add(self, command: str, terminal: Terminal | None = None) -> None:
        """The command and, once all is over, everything that its terminal has shown."""
        self.parts.append((command, terminal))

    @property
    def text(self) -> str:
        shown = [(command, self._steady(terminal.shown) if terminal else "") for command, terminal in self.parts]
        return "\n".join(f"$ {command}\n{text}" for command, text in shown)

    def _steady(self, shown: str) -> str:
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "").replace("^C", "")
        # a line that is too long for the terminal goes on in the next
        text = text.replace("\n  … ", "")
        text = text.replace(self.session.address, "127.0.0.1:8484")
        text = text.replace(str(self.session.home), "~").replace(str(self.session.folder), "~/gateway")
        # lines of the log, which has times, are left out
        lines = [line.rstrip() for line in text.splitlines() if not re.match(r"\d{4}-\d\d-\d\dT\S+Z +[A-Z]+ ", line)]
        text = "\n".join(lines).strip("\n") + "\n"
        # of the attributes that `accept` offers, the first is enough
        text = re.sub(r"(\[tools\.\S+\]\n.+\n\n)(?:\[tools\.\S+\]\n.+\n\n)+", r"\1…\n\n", text)
        text = re.sub(r"\b(appr|rcpt|key|tgk)_[A-Za-z0-9_-]+…?", r"\1_…", text)
        text = re.sub(r"\d{4}-\d\d-\d\d[T ][0-9:.]+Z(?: \([^)\n]*\))?", "2026-11-18T09:00:00Z", text)
        text = re.sub(r"\b\d+(\.\d+)? ?(ms|s)\b", "1 s", text)
        return re.sub(r"\b\d+m( ?\d+s)? left", "59m left", text)

    def agrees_with_readme(self) -> None:
        before, rest = README.read_text().split(BEGIN)
        now, after = rest.split(END)
        block = f"\n```text\n{self.text.rstrip()}\n```\n\n"
        if os.environ.get("TOOLGATE_WRITE_TRANSCRIPT"):
            README.write_text(f"{before}{BEGIN}{block}{END}{after}")
        else:
            assert now == block, f"the README shows another transcript; write it with TOOLGATE_WRITE_TRANSCRIPT=1:\n{block}"


def entry(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text())["mcpServers"]["toolgate"]


async def moved(server: dict[str, Any], tool: str, arguments: dict[str, str]) -> tuple[list[str], dict[str, Any]]:
    """What a client that reads this entry is shown, and what its call is answered with."""
    with anyio.fail_after(WITHIN_SECONDS):
        async with httpx2.AsyncClient(headers=server["headers"], timeout=WITHIN_SECONDS) as http:
            async with mcp.Client(streamable_http_client(server["url"], http_client=http)) as client:
                names = [each.name for each in (await client.list_tools()).tools]
                result = await client.call_tool(tool, arguments)
                return names, result.model_dump(by_alias=True, mode="json", exclude_none=True)


def test_the_first_half_hour(tmp_path: Path):
    session = Session(tmp_path)
    transcript = Transcript(session)
    notes = session.home / "notes"
    (notes / "draft.txt").write_text("a draft")
    clients_file = session.home / ".cursor" / "mcp.json"
    environment = session.environment()

    def at_terminal(command: str) -> Terminal:
        return Terminal(command, session.folder, environment)

    adding = "toolgate add files --prefix files_ -- npx -y @modelcontextprotocol/server-filesystem ~/notes"
    with at_terminal(adding) as add:
        assert add.end() == 0, add.shown
        transcript.add(adding, add)
    configuration = session.folder / "toolgate.toml"
    assert "[[upstreams]]" in configuration.read_text()
    with configuration.open("a") as file:
        file.write(f"\n{OWN_PART}")
    transcript.add(f"cat >> toolgate.toml <<END\n{OWN_PART}END")

    with at_terminal("toolgate upstream accept") as accept:
        accept.until(r"move_file")
        while accept.until_either_end_or(r"\[y/N\]"):
            accept.type("y")
        assert accept.end() == 0, accept.shown
        transcript.add("toolgate upstream accept", accept)

    with at_terminal("toolgate serve") as serve:
        serve.until(rf"http://{re.escape(session.address)}/mcp")
        transcript.add("toolgate serve", serve)

        connecting = "toolgate connect cursor --user me"
        with at_terminal(connecting) as connect:
            assert connect.end() == 0, connect.shown
            transcript.add(connecting, connect)

        watching = "toolgate approvals watch"
        with at_terminal(watching) as watch, ThreadPoolExecutor() as pool:
            paths = {"source": str(notes / "draft.txt"), "destination": str(notes / "final.txt")}
            calling: Future = pool.submit(anyio.run, moved, entry(clients_file), "files_move_file", paths)
            watch.until(r"files_move_file")
            watch.until(r"Approve\?")
            assert (notes / "draft.txt").exists() and not calling.done(), "nothing ran before the answer"
            watch.type("y")
            names, result = calling.result(timeout=WITHIN_SECONDS)
            watch.until(r"(?i)granted|approved")
            watch.type("q")
            assert watch.end() == 0, watch.shown
            transcript.add(watching, watch)
        assert {"files_read_text_file", "files_move_file"} <= set(names)
        assert not result.get("isError"), result
        assert (notes / "final.txt").read_text() == "a draft" and not (notes / "draft.txt").exists()

        receipt = result["_meta"]["toolgate/receipt"]
        with at_terminal(f"toolgate undo {receipt}") as undo:
            assert undo.end() == 0, undo.shown
            transcript.add("toolgate undo rcpt_…", undo)
        assert (notes / "draft.txt").read_text() == "a draft" and not (notes / "final.txt").exists()

        verifying = "toolgate ledger verify"
        with at_terminal(verifying) as verify:
            assert verify.end() == 0, verify.shown
        assert serve.interrupt() == 0, serve.shown
    transcript.agrees_with_readme()
