"""What a client is given to bring back unchanged. It is in the client's hands, so it is signed and runs out."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from typing import Any

from .faults import INVALID_PARAMS, Fault

KEY = os.urandom(32)
SECONDS = 600


def seal(value: Any, about: str) -> str:
    """`about` names the request it belongs to; it opens for no other."""
    body = json.dumps({"value": value, "about": about, "until": time.time() + SECONDS}).encode()
    return f"{encoded(body)}.{encoded(signature(body))}"


def unseal(state: Any, about: str) -> Any:
    try:
        body, signed = (base64.b64decode(part, altchars=b"-_", validate=True) for part in state.split("."))
        if not hmac.compare_digest(signed, signature(body)):
            raise ValueError("the signature is wrong")
        opened = json.loads(body)
        if opened["about"] != about or opened["until"] < time.time():
            raise ValueError("it belongs to another request, or ran out")
        return opened["value"]
    except (ValueError, AttributeError) as wrong:
        raise Fault(INVALID_PARAMS, f"requestState is not valid: {wrong}") from wrong


def signature(body: bytes) -> bytes:
    return hmac.digest(KEY, body, hashlib.sha256)


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()
