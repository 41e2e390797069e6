"""What each caller sees, asked by real clients: a table of tools and callers, and what a few of them do with them.

    saas.py ADDRESS TOKENS    TOKENS: a JSON file of callers' names and tokens, null for none
"""

import json
import sys
from contextlib import asynccontextmanager

import anyio
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client

ADDRESS = sys.argv[1]
with open(sys.argv[2], encoding="utf-8") as file:
    TOKENS = json.load(file)


@asynccontextmanager
async def client(who: str):
    token = TOKENS[who]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with mcp.Client(streamable_http_client(ADDRESS, http_client=http)) as connected:
            yield connected


async def seen(who: str) -> dict[str, str]:
    """Tool to `yes`, or for one that is listed and can't be called what decided."""
    async with client(who) as connected:
        tools, cursor = {}, None
        while True:
            page = await connected.list_tools(cursor=cursor) if cursor else await connected.list_tools()
            for tool in page.tools:
                meta = tool.meta or {}
                marked = meta.get("toolgate/callable") is False
                tools[tool.name] = meta.get("toolgate/source", "seen") if marked else "yes"
            cursor = page.next_cursor
            if not cursor:
                return tools


SHORT = {"plan_restriction": "plan", "tenant_override": "off", "default": "off", "global_disabled": "off"}


async def main() -> None:
    lists = {who: await seen(who) for who in TOKENS}
    names = sorted({name for tools in lists.values() for name in tools})
    first = max(len(name) for name in names)
    print("tool".ljust(first), *TOKENS, sep="  ")
    for name in names:
        cells = [lists[who].get(name, "-") for who in TOKENS]
        cells = [SHORT.get(cell, cell).ljust(len(who)) for cell, who in zip(cells, TOKENS)]
        print("  ".join([name.ljust(first), *cells]).rstrip())
    print("\nyes: may call   seen: listed, not callable   plan: needs a higher plan   off: switched off   -: not listed")


anyio.run(main)
