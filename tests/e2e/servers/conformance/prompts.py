"""What each prompt and resource answers, and what completes their arguments."""

from __future__ import annotations

import json
import re
from typing import Any

from .content import PNG, image, resource, spoken, text
from .faults import Fault
from .questions import elicit
from .shelf import Shelf
from .turn import Turn

WORDS = ["paris", "park", "party", "test-one", "test-two"]
BY_ID = re.compile(r"test://template/([^/]+)/data")


def prompt(turn: Turn, name: str, given: dict[str, str]) -> dict[str, Any]:
    match name:
        case "test_simple_prompt":
            return spoken(text("This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            return spoken(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))
        case "test_prompt_with_embedded_resource":
            embedded = resource(given["resourceUri"], "Embedded resource content for testing.")
            return spoken(embedded, text("Please process the embedded resource above."))
        case "test_prompt_with_image":
            return spoken(image(), text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            question = elicit("What context should the prompt use?", {"context": {"type": "string"}})
            answer = turn.ask({"user_context": question})["user_context"]
            return spoken(text(f"Context: {answer.get('content', {}).get('context', 'none')}"))
        case _:
            return spoken(text("Here for the moment."))


def read(turn: Turn, shelf: Shelf, uri: str) -> dict[str, Any]:
    """The content of a resource; a fault if there is none."""
    if uri == "test://static-text":
        found = {"mimeType": "text/plain", "text": "This is the content of the static text resource."}
    elif uri == "test://static-binary":
        found = {"mimeType": "image/png", "blob": PNG}
    elif uri == "test://watched-resource":
        found = {"mimeType": "text/plain", "text": f"Version {shelf.watched}"}
    elif uri == "test://dynamic-resource" and shelf.listed("resources"):
        found = {"mimeType": "text/plain", "text": "Here for the moment."}
    elif by_id := BY_ID.fullmatch(uri):
        id = by_id.group(1)
        told = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        found = {"mimeType": "application/json", "text": told}
    else:
        raise Fault(turn.not_found, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, **found}]}


def complete(params: dict[str, Any]) -> dict[str, Any]:
    begun = (params.get("argument") or {}).get("value", "")
    found = [word for word in WORDS if word.startswith(begun)]
    return {"completion": {"values": found, "total": len(found), "hasMore": False}}
