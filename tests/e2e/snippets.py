"""What the README and the book tell a reader to type, run as it is written.

A page is one session: its blocks run from top to bottom in one temporary folder, with one shell and a HOME of its own.

- A `console` block has commands after `$ ` (continued after `> `) and what they print. `…` stands for anything within a
  line, and a line that is `…` alone for any lines. A command without output below it must succeed; exit code 1, which is
  an answer, is for commands that show what they print. Nothing may exit with more.
- `toolgate serve` goes on running until the page ends; what is below it must appear.
- A block of a file begins with its name in a comment (`# toolgate.toml`, `// rules/own.cedar`) and is written there;
  `# added to toolgate.toml` is added to the end.
- Everything else (`text`, a file without a name) is only read.

The folder has a copy of `examples/`, and `npx` finds the packages of the tests. Pages name the usual port; each session has
one of its own, and a HOME that pages call `~`, with a folder `notes` and
where Cursor was started once.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from clients.node import node, packages
from gate import binary, clean_environment, free_address

REPOSITORY = Path(__file__).resolve().parents[2]
WITHIN_SECONDS = 120.0
USUAL_ADDRESS = "127.0.0.1:8484"
GOES_ON = "toolgate serve"
# relative and within the folder: a page never names a file of the machine that runs it
FILE_NAME = re.compile(r"^(?:#|//) (?P<added>added to )?(?P<name>(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)*\.\w+)$")
END = "end-of-command-4f1c"


@dataclass
class Command:
    line: int
    text: str
    expected: list[str] = field(default_factory=list)


@dataclass
class File:
    line: int
    name: str
    text: str
    added: bool


def fences(page: str) -> list[tuple[int, str, list[str]]]:
    """The fenced blocks: line, language, lines."""
    found, block = [], None
    for number, line in enumerate(page.splitlines(), 1):
        if block is not None and line.strip() == "```":
            found.append(block)
            block = None
        elif block is not None:
            block[2].append(line)
        elif line.startswith("```"):
            block = (number, line[3:].strip(), [])
    assert block is None, f"the block that begins at line {block and block[0]} does not end"
    return found


def steps(page: str) -> list[Command | File]:
    found: list[Command | File] = []
    for number, language, lines in fences(page):
        if language == "console":
            found += commands(number, lines)
        elif lines and language != "text" and (named := FILE_NAME.match(lines[0])):
            found.append(File(number, named["name"], "\n".join(lines) + "\n", added=bool(named["added"])))
    return found


def commands(number: int, lines: list[str]) -> list[Command]:
    found: list[Command] = []
    for offset, line in enumerate(lines, 1):
        if line.startswith("$ "):
            found.append(Command(number + offset, line[2:]))
            continue
        assert found, f"line {number + offset}: a console block begins with `$ `"
        if line.startswith("> ") and not found[-1].expected:
            found[-1].text += "\n" + line[2:]
        else:
            found[-1].expected.append(line)
    return found


def pattern(expected: list[str]) -> re.Pattern[str]:
    """What the output must be, `…` read as said above."""
    parts = []
    for line in expected:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.compile("".join(parts))


class Session:
    """A reader's folder, shell and servers, for one page."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.programs = folder / "gateway", folder / "home", folder / "bin"
        for each in (self.folder, self.home, self.programs):
            each.mkdir(parents=True)
        (self.home / "notes").mkdir()
        (self.home / ".cursor").mkdir()
        self.address = free_address()
        self.servers: list[subprocess.Popen[bytes]] = []
        self.shell: subprocess.Popen[bytes] | None = None
        self._put_programs()

    def __enter__(self) -> Session:
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*reversed(self.servers), self.shell]:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def environment(self) -> dict[str, str]:
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in clean_environment().items() if not name.startswith("XDG_")}
        return kept | {
            "HOME": str(self.home),
            "PATH": path,
            "USER": "ann",
            "TERM": "dumb",
            "TOOLGATE_SERVER__LISTEN": self.address,
        }

    def _put_programs(self) -> None:
        """`toolgate`, `python`, `node`, and an `npx` that has its packages already."""
        (self.programs / "toolgate").symlink_to(binary())
        (self.programs / "node").symlink_to(node())
        for name in ("python", "python3"):
            self._script(name, f'exec "{sys.executable}" "$@"')
        modules = packages() / "node_modules"
        (self.folder.parent / "node_modules").symlink_to(modules)
        self._script(
            "npx",
            '[ "$1" = -y ] && shift\npackage=$1; shift\n'
            f'exec "{node()}" "{modules}/$package/dist/index.js" "$@"',
        )
        shutil.copytree(REPOSITORY / "examples", self.folder / "examples")

    def _script(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(self, step: Command | File) -> None:
        if isinstance(step, File):
            self._write(step)
        elif step.text.startswith(GOES_ON):
            self._start(step)
        else:
            code, printed = self._type(step.text)
            most = 1 if step.expected else 0
            assert code <= most, f"line {step.line}: `{step.text}` exited with {code}:\n{printed}"
            if step.expected:
                self._compare(step, printed)

    def _write(self, file: File) -> None:
        path = self.folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = file.text.replace(USUAL_ADDRESS, self.address)
        with path.open("a" if file.added else "w") as out:
            out.write(("\n" if file.added else "") + text)

    def _type(self, text: str) -> tuple[int, str]:
        assert self.shell and self.shell.stdin and self.shell.stdout
        line = text.replace(USUAL_ADDRESS, self.address)
        self.shell.stdin.write(f"{{ {line}\n}} </dev/null; printf '\\n%s %s\\n' {END} $?\n".encode())
        self.shell.stdin.flush()
        printed = b""
        ended = re.compile(rf"\n{END} (\d+)\n$".encode())
        deadline = time.monotonic() + WITHIN_SECONDS
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.shell.stdout, selectors.EVENT_READ)
            while not (end := ended.search(printed)):
                assert waiting.select(deadline - time.monotonic()), f"`{text}` does not end:\n{printed.decode()}"
                piece = os.read(self.shell.stdout.fileno(), 65536)
                assert piece, f"the shell ended at `{text}`:\n{printed.decode()}"
                printed += piece
        return int(end[1]), self._usual(printed[: end.start()].decode())

    def _start(self, command: Command) -> None:
        output = self.folder.parent / f"server-{len(self.servers)}.log"
        with output.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command.text}"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self.environment(),
                start_new_session=True,
            )
        self.servers.append(process)
        deadline = time.monotonic() + WITHIN_SECONDS
        expected = command.expected or ["…", f"…http://{USUAL_ADDRESS}/mcp…"]
        while not pattern(["…", *expected]).match(self._usual(output.read_text())):
            printed = self._usual(output.read_text())
            assert process.poll() is None, f"line {command.line}: `{command.text}` ended:\n{printed}"
            assert time.monotonic() < deadline, self._difference(command, printed)
            time.sleep(0.05)

    def _usual(self, printed: str) -> str:
        text = re.sub(r"\x1b\[[0-9;]*m", "", printed).replace("\r\n", "\n").replace(self.address, USUAL_ADDRESS)
        text = text.replace(str(self.home), "~").replace(str(self.folder), ".")
        return text if text.endswith("\n") or not text else text + "\n"

    def _compare(self, command: Command, printed: str) -> None:
        wanted = pattern(command.expected)
        matched = wanted.fullmatch(printed) or wanted.fullmatch(printed.strip("\n") + "\n")
        assert matched, self._difference(command, printed)

    def _difference(self, command: Command, printed: str) -> str:
        expected = "\n".join(command.expected)
        return f"line {command.line}: `{command.text}` prints\n{printed}\nand the page says\n{expected}"


def play(page: str, folder: Path) -> int:
    """Runs a page's blocks and says how many commands there were."""
    found = steps(page)
    with Session(folder) as session:
        for step in found:
            session.run(step)
    return sum(isinstance(step, Command) for step in found)


def pages() -> list[Path]:
    """The README, the book and the guides of the examples, where they show commands."""
    files = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md"), *(REPOSITORY / "examples").glob("*/README.md")]
    files.append(REPOSITORY / "examples" / "README.md")
    return sorted(file for file in files if file.is_file() and "```console" in file.read_text())
