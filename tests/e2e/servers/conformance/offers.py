"""The requests that both eras have, answered the same in both."""

from __future__ import annotations

from typing import Any

from . import prompts
from .definitions import PROMPTS, RESOURCES, TEMPLATES, tool
from .faults import INVALID_PARAMS, Fault, Refused
from .content import said, text
from .shelf import Shelf
from .tools import TOOLS
from .turn import Turn

VERSION = {"modern": "2026-07-28", "legacy": "2025-11-25"}
SERVER = {"name": "conformance-fixture", "version": "1"}
CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
# Methods whose results may be kept by a client for a while.
LISTS = {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}
CACHEABLE = LISTS | {"server/discover", "resources/read"}
SHARED = LISTS | {"tools/call", "prompts/get", "resources/read", "completion/complete"}
# What comes and goes.
DYNAMIC = {"tools": "test_dynamic_tool", "prompts": "test_dynamic_prompt", "resources": "test://dynamic-resource"}


def answer(shelf: Shelf, method: str, params: dict[str, Any], turn: Turn) -> dict[str, Any]:
    """The result of one of the SHARED methods."""
    match method:
        case "tools/list":
            return page(params, "tools", [tool(name) for name in names(shelf, "tools")])
        case "prompts/list":
            return page(params, "prompts", [each for each in PROMPTS if each["name"] in names(shelf, "prompts")])
        case "resources/list":
            return page(params, "resources", [each for each in RESOURCES if each["uri"] in names(shelf, "resources")])
        case "resources/templates/list":
            return page(params, "resourceTemplates", TEMPLATES)
        case "resources/read":
            return prompts.read(turn, shelf, required(params, "uri"))
        case "prompts/get":
            return get_prompt(shelf, params, turn)
        case "completion/complete":
            return complete(shelf, params)
        case _:
            return call(shelf, params, turn)


def names(shelf: Shelf, kind: str) -> list[str]:
    every = {
        "tools": list(TOOLS),
        "prompts": [each["name"] for each in PROMPTS],
        "resources": [each["uri"] for each in RESOURCES],
    }[kind]
    return [name for name in every if name != DYNAMIC[kind] or shelf.listed(kind)]


def page(params: dict[str, Any], key: str, every: list[dict[str, Any]]) -> dict[str, Any]:
    if params.get("cursor") is not None:
        raise Fault(INVALID_PARAMS, "no such cursor: every list is one page")
    return {key: every}


def required(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise Fault(INVALID_PARAMS, f"{name} is missing")
    return value


def call(shelf: Shelf, params: dict[str, Any], turn: Turn) -> dict[str, Any]:
    name, arguments = required(params, "name"), params.get("arguments") or {}
    if name not in names(shelf, "tools"):
        raise Fault(INVALID_PARAMS, f"Unknown tool: {name}")
    lacking = [each for each in tool(name)["inputSchema"].get("required", []) if each not in arguments]
    if lacking:
        return failed(f"arguments are missing: {', '.join(lacking)}")
    try:
        return TOOLS[name](turn, arguments, shelf)
    except Refused as refused:
        return failed(str(refused))


def failed(why: str) -> dict[str, Any]:
    return {**said(text(why)), "isError": True}


def get_prompt(shelf: Shelf, params: dict[str, Any], turn: Turn) -> dict[str, Any]:
    name, given = required(params, "name"), params.get("arguments") or {}
    if name not in names(shelf, "prompts"):
        raise Fault(INVALID_PARAMS, f"Unknown prompt: {name}")
    defined = next(each for each in PROMPTS if each["name"] == name)
    lacking = [each["name"] for each in defined.get("arguments", []) if each["name"] not in given]
    if lacking:
        raise Fault(INVALID_PARAMS, f"arguments are missing: {', '.join(lacking)}")
    try:
        return prompts.prompt(turn, name, given)
    except Refused as refused:
        raise Fault(INVALID_PARAMS, str(refused)) from refused


def complete(shelf: Shelf, params: dict[str, Any]) -> dict[str, Any]:
    reference = params.get("ref") or {}
    known = names(shelf, "prompts") + [each["uriTemplate"] for each in TEMPLATES]
    if reference.get("name", reference.get("uri")) not in known:
        raise Fault(INVALID_PARAMS, "nothing of that name has arguments to complete")
    return prompts.complete(params)
