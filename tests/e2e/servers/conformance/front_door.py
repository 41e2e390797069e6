"""What is looked at before a message: where it comes from, and whether its headers repeat its body."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .definitions import SCHEMAS
from .faults import HEADER_MISMATCH, Fault
from .modern import META, checked_meta

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def is_local(headers: Mapping[str, str]) -> bool:
    """A page elsewhere whose name was pointed at this machine says so in Host or Origin."""
    origin = headers.get("Origin")
    host = urlsplit(f"//{headers.get('Host', '')}").hostname
    return host in LOOPBACK and (origin is None or urlsplit(origin).hostname in LOOPBACK)


def check_headers(headers: Mapping[str, str], message: dict[str, Any]) -> None:
    """Raises a fault unless every header of the newer era is there and says what the body says."""
    method, params = message["method"], message.get("params") or {}
    meta = params.get("_meta")
    if isinstance(meta, dict) and META + "protocolVersion" in meta:
        must_be(headers, "MCP-Protocol-Version", meta[META + "protocolVersion"])
    checked_meta(params)
    must_be(headers, "Mcp-Method", method)
    if method in NAMED_BY:
        must_be(headers, "Mcp-Name", params.get(NAMED_BY[method]))
    if method == "tools/call":
        arguments = params.get("arguments") or {}
        for name, schema in SCHEMAS.get(params.get("name"), {}).get("properties", {}).items():
            if "x-mcp-header" in schema and name in arguments:
                must_be(headers, f"Mcp-Param-{schema['x-mcp-header']}", arguments[name])


def must_be(headers: Mapping[str, str], name: str, value: Any) -> None:
    said = headers.get(name)
    try:
        if said is None or decoded(said.strip()) != value:
            raise ValueError
    except (ValueError, binascii.Error) as wrong:
        raise Fault(HEADER_MISMATCH, f"{name} does not repeat the body", status=400) from wrong


def decoded(said: str) -> str:
    if said.startswith("=?base64?") and said.endswith("?="):
        return base64.b64decode(said[len("=?base64?") : -len("?=")], validate=True).decode()
    return said
