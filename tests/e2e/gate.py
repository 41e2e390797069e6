"""The Toolgate binary under test: started as a user would start it, stopped whatever happens."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

READY_WITHIN_SECONDS = 30.0
PACKS = ("admin", "fitness", "gate", "process", "spine", "team", "todo", "workspace")


def binary() -> str:
    path = os.environ.get("TOOLGATE_BIN")
    if not path:
        raise RuntimeError("TOOLGATE_BIN is not set: give it the path of the toolgate binary")
    return str(Path(path).resolve())


def clean_environment() -> dict[str, str]:
    """The environment without settings of the developer's own that would change the binary under test."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TOOLGATE_")}


@dataclass(frozen=True)
class Task:
    task_id: str
    task_key: str


@dataclass(frozen=True)
class Gate:
    """One data directory, and the address that serves it where one does."""

    data: Path
    address: str | None = None
    stdio_arguments: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        assert self.address, "this gate is reached over stdio only"
        return f"http://{self.address}/mcp"

    @property
    def stdio_command(self) -> list[str]:
        configuration = self.data.parent / "toolgate.toml"
        return [binary(), "stdio", "--data", str(self.data), "--config", str(configuration), *self.stdio_arguments]

    def command(self, *arguments: str) -> str:
        """Runs `toolgate ARGUMENTS --data DIR` and gives what it printed on standard output."""
        line = [binary(), *arguments, "--data", str(self.data)]
        # approvals are answered without a terminal here
        environment = {**clean_environment(), "TOOLGATE_APPROVALS__COMMAND_LINE": "any"}
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=30, env=environment, cwd=self.data.parent
        )
        assert done.returncode == 0, f"{' '.join(line)}\nexit code {done.returncode}\n{done.stderr}"
        return done.stdout

    def mint(self, *facts: str) -> str:
        """A token for these facts (`"--user", "alice"`). The contract: the token alone on standard output."""
        printed = self.command("token", "mint", *facts)
        token = printed.strip()
        assert token and printed in (token, token + "\n"), f"not a token alone: {printed!r}"
        return token

    def start_task(self, *facts: str) -> Task:
        told = json.loads(self.command("task", "start", *facts, "--json"))
        return Task(task_id=str(told["task_id"]), task_key=str(told["task_key"]))


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def wait_until_ready(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"toolgate serve ended with {process.returncode}:\n{log.read_text()}")
        try:
            if httpx.get(f"http://{address}/readyz", timeout=2, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.02)
    raise RuntimeError(f"/readyz did not answer 200 in {READY_WITHIN_SECONDS:g} s:\n{log.read_text()}")


def configured(data: Path) -> Path:
    """A data directory beside a configuration: the test's own, else one that loads every pack without settings."""
    data.mkdir(parents=True, exist_ok=True)
    configuration = data.parent / "toolgate.toml"
    if not configuration.exists():
        configuration.write_text("".join(f"[packs.{pack}]\n" for pack in PACKS))
    return data


@contextmanager
def serving(data: Path) -> Iterator[Gate]:
    """`toolgate serve` on a free port, ready to be asked."""
    configured(data)
    address = free_address()
    log = data.parent / f"{data.name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [binary(), "serve", "--data", str(data), "--listen", address],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=clean_environment(),
            cwd=data.parent,
        )
    try:
        wait_until_ready(process, address, log)
        yield Gate(data=data, address=address)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
