"""What is on offer at the moment, and who is told when that changes."""

from __future__ import annotations

import threading
from collections.abc import Callable

Watcher = Callable[[str, str | None], None]


class Shelf:
    """One thing of each kind (a tool, a prompt, a resource) comes and goes. At the start all are there."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.away: set[str] = set()
        self.watched = 1
        self.watchers: list[Watcher] = []

    def listed(self, kind: str) -> bool:
        return kind not in self.away

    def change(self, kind: str) -> None:
        with self.lock:
            self.away ^= {kind}
        self.tell(f"notifications/{kind}/list_changed", None)

    def update_watched(self) -> None:
        with self.lock:
            self.watched += 1
        self.tell("notifications/resources/updated", "test://watched-resource")

    def tell(self, method: str, uri: str | None) -> None:
        for watcher in list(self.watchers):
            watcher(method, uri)
