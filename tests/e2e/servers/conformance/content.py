"""Content of results: the kinds that exist, each with the smallest thing it can hold."""

from __future__ import annotations

from typing import Any

# A red pixel, and a moment of silence.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image() -> dict[str, Any]:
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def audio() -> dict[str, Any]:
    return {"type": "audio", "data": WAV, "mimeType": "audio/wav"}


def resource(uri: str, words: str, kind: str = "text/plain") -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    """A tool's result."""
    return {"content": list(parts)}


def spoken(*parts: dict[str, Any]) -> dict[str, Any]:
    """A prompt's result."""
    return {"messages": [{"role": "user", "content": part} for part in parts]}
