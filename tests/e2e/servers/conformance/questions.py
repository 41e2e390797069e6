"""What the server can ask of a client, which capability that needs, and what counts as an answer."""

from __future__ import annotations

from typing import Any

CAPABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
ACTIONS = ("accept", "decline", "cancel")


def elicit(message: str, properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    must = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, "required": must}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(prompt: str, tokens: int = 100) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": prompt}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": tokens}}


def roots() -> dict[str, Any]:
    return {"method": "roots/list", "params": {}}


def fault_of(question: dict[str, Any], answer: Any) -> str | None:
    """Why this is no answer to the question; None if it is one."""
    if not isinstance(answer, dict):
        return "an answer is an object"
    if question["method"] == "roots/list":
        return None if isinstance(answer.get("roots"), list) else "roots is missing"
    if question["method"] == "sampling/createMessage":
        return None if "role" in answer and "content" in answer else "role or content is missing"
    if answer.get("action") not in ACTIONS:
        return f"action is none of {', '.join(ACTIONS)}"
    if answer["action"] != "accept":
        return None
    content = answer.get("content")
    wanted = question["params"]["requestedSchema"].get("required", [])
    if not isinstance(content, dict) or any(name not in content for name in wanted):
        return f"content lacks some of {', '.join(wanted)}"
    return None
