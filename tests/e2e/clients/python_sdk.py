"""The official Python SDK (`mcp`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import mcp
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from asking import Answer, Call, Caller, Listed, Place, Question, Refused, Result

WITHIN_SECONDS = 30.0


class PythonSdk:
    calls_unlisted = True

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.name = f"python-{mode}"

    def ask(self, place: Place, caller: Caller, questions: list[Question]) -> list[Answer]:
        return anyio.run(self._ask, place, caller, questions)

    async def _ask(self, place: Place, caller: Caller, questions: list[Question]) -> list[Answer]:
        with anyio.fail_after(WITHIN_SECONDS):
            async with self._connected(place, caller) as client:
                self._spoke_the_era_asked_for(client)
                return [await answer(client, question) for question in questions]

    @asynccontextmanager
    async def _connected(self, place: Place, caller: Caller) -> AsyncIterator[mcp.Client]:
        if place.transport == "http":
            async with httpx2.AsyncClient(headers=caller.headers, timeout=WITHIN_SECONDS) as http:
                transport = streamable_http_client(place.gate.url, http_client=http)
                async with mcp.Client(transport, mode=self.mode, cache=None) as client:
                    yield client
        else:
            command, *arguments = place.gate.stdio_command
            process = StdioServerParameters(command=command, args=arguments, env=caller.environment)
            async with mcp.Client(process, mode=self.mode, cache=None) as client:
                yield client

    def _spoke_the_era_asked_for(self, client: mcp.Client) -> None:
        expected = "2025-11-25" if self.mode == "legacy" else "2026-07-28"
        assert client.protocol_version == expected, f"negotiated {client.protocol_version}"


async def answer(client: mcp.Client, question: Question) -> Answer:
    try:
        if isinstance(question, Call):
            result = await client.call_tool(question.tool, question.arguments)
            return Result(result.model_dump(by_alias=True, mode="json", exclude_none=True))
        return Listed(await every_page(client))
    except MCPError as refusal:
        return Refused(code=refusal.code, message=refusal.message)


async def every_page(client: mcp.Client) -> list[dict]:
    tools: list[dict] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools
