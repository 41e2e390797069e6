"""Every client the tests drive, in each protocol era it can be told to speak."""

from asking import Client

from .inspector import Inspector
from .python_sdk import PythonSdk
from .typescript_sdk import TypeScriptSdk

ALL: list[Client] = [
    PythonSdk("legacy"),
    PythonSdk("2026-07-28"),
    PythonSdk("auto"),
    TypeScriptSdk("legacy"),
    TypeScriptSdk("2026-07-28"),
    TypeScriptSdk("auto"),
    Inspector("legacy"),
    Inspector("modern"),
]
