"""How a tool, prompt or resource speaks with its client while a request is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .faults import INVALID_PARAMS, MISSING_CAPABILITY, RESOURCE_NOT_FOUND, Fault, InputRequired, Refused
from .questions import CAPABILITY, fault_of
from .sealed import seal, unseal

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

Send = Callable[[dict[str, Any]], None]
Questions = dict[str, dict[str, Any]]
Answers = dict[str, Any]


class Turn:
    """What both eras share: progress and log messages beside the answer."""

    # The code of the error for a resource that is not there.
    not_found = INVALID_PARAMS

    def __init__(self, params: dict[str, Any], capabilities: dict[str, Any], level: str | None, send: Send) -> None:
        self.params, self.capabilities, self.level, self.send = params, capabilities, level, send
        self.meta = params.get("_meta") or {}

    def declares(self, question: dict[str, Any]) -> bool:
        return CAPABILITY[question["method"]] in self.capabilities

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def progress(self, done: int, total: int) -> None:
        token = self.meta.get("progressToken")
        if token is not None:
            self.notify("notifications/progress", progressToken=token, progress=done, total=total)

    def log(self, level: str, data: Any) -> None:
        if self.level is not None and LEVELS.index(level) >= LEVELS.index(self.level):
            self.notify("notifications/message", level=level, logger="conformance", data=data)

    def ask(self, questions: Questions, sealed: bool = False) -> Answers:
        """The answers, by key. `sealed`: answers count only together with the state that was handed out."""
        raise NotImplementedError


class ModernTurn(Turn):
    """A tool runs from its start on every round. What was answered in earlier rounds is in the sealed state."""

    def __init__(self, about: str, *rest: Any) -> None:
        super().__init__(*rest)
        self.about = about
        self.given = self.responses()
        state = self.params.get("requestState")
        self.returned = state is not None
        self.earlier: list[Answers] = unseal(state, about) if self.returned else []
        self.rounds = 0

    def responses(self) -> Answers:
        given = self.params.get("inputResponses", {})
        if not isinstance(given, dict) or not all(isinstance(each, dict) for each in given.values()):
            raise Fault(INVALID_PARAMS, "inputResponses is an object of objects")
        return given

    def ask(self, questions: Questions, sealed: bool = False) -> Answers:
        missing = {CAPABILITY[each["method"]]: {} for each in questions.values() if not self.declares(each)}
        if missing:
            data = {"requiredCapabilities": missing}
            raise Fault(MISSING_CAPABILITY, f"the client must declare: {', '.join(missing)}", data, status=400)
        self.rounds += 1
        if self.rounds <= len(self.earlier):
            return self.earlier[self.rounds - 1]
        answers = {key: self.given[key] for key in questions if key in self.given}
        if len(answers) < len(questions) or (sealed and not self.returned):
            state = seal(self.earlier, self.about) if sealed or self.earlier else None
            raise InputRequired(questions, state)
        for key, answer in answers.items():
            if wrong := fault_of(questions[key], answer):
                raise Fault(INVALID_PARAMS, f"inputResponses.{key}: {wrong}")
        self.given = {}
        self.earlier = [*self.earlier, answers]
        return answers


class LegacyTurn(Turn):
    """Asking is a request to the client while the call runs; several questions are asked at once."""

    not_found = RESOURCE_NOT_FOUND

    def __init__(self, request: Callable[[dict[str, Any]], Callable[[], Any]], *rest: Any) -> None:
        super().__init__(*rest)
        self.request = request

    def ask(self, questions: Questions, sealed: bool = False) -> Answers:
        for each in questions.values():
            if not self.declares(each):
                raise Refused(f"the client does not support {CAPABILITY[each['method']]}")
        waiting = {key: self.request(each) for key, each in questions.items()}
        answers = {key: answered() for key, answered in waiting.items()}
        for key, answer in answers.items():
            if wrong := fault_of(questions[key], answer):
                raise Refused(f"the client's answer to {key} can't be used: {wrong}")
        return answers
