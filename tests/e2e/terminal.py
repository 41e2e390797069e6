"""A program on a terminal of its own (a pseudo-terminal), typed to and read as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

WITHIN_SECONDS = 60.0
ROWS, COLUMNS = 40, 100


class Terminal:
    """Runs a command line of the shell. Everything shown since the start is `shown`."""

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        self.command, self.shown, self._seen = command, "", 0
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

        def own_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=environment,
            start_new_session=True,
            preexec_fn=own_terminal,
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._mine)

    def until(self, wanted: str) -> re.Match[str]:
        """Reads until the pattern is shown after what was waited for before."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not (found := re.compile(wanted).search(self.shown, self._seen)):
            assert self._read(deadline), f"`{self.command}` ended and did not show {wanted!r}:\n{self.shown}"
        self._seen = found.end()
        return found

    def until_either_end_or(self, wanted: str) -> bool:
        """Reads until the pattern is shown once more, or the program has ended; says whether it was shown."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not (found := re.compile(wanted).search(self.shown, self._seen)):
            if not self._read(deadline):
                return False
        self._seen = found.end()
        return True

    def type(self, text: str) -> None:
        os.write(self._mine, text.encode() + b"\n")

    def interrupt(self) -> int:
        """Ctrl-C; gives the exit code."""
        os.write(self._mine, b"\x03")
        return self.end()

    def end(self) -> int:
        """Reads to the end and gives the exit code."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while self._read(deadline):
            pass
        return self._process.wait(timeout=WITHIN_SECONDS)

    def _read(self, deadline: float) -> bool:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._mine, selectors.EVENT_READ)
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
        assert ready, f"`{self.command}` shows nothing more:\n{self.shown}"
        try:
            piece = os.read(self._mine, 65536)
        except OSError:  # Linux says so when the other end is closed
            return False
        self.shown += piece.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)
