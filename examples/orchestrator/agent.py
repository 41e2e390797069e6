"""A task of the process, as a real MCP client: the official Python SDK, with the task's key in the header.

Reads what `toolgate task start --json` printed on standard input. Where a model would think, this one has made up its mind;
what it sees of the process, the results and the repository is real.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client


class Tools:
    def __init__(self, client: mcp.Client) -> None:
        self.client = client

    async def names(self) -> list[str]:
        return sorted(tool.name for tool in (await self.client.list_tools()).tools)

    async def __call__(self, tool: str, **arguments: object) -> dict:
        result = await self.client.call_tool(tool, arguments)
        answer = result.structured_content
        if result.is_error:
            sys.exit(f"{tool} failed: {answer or result.content[0].text}")
        return answer


def tell(line: str) -> None:
    print(f"    {line}")


def commit(worktree: str, file: str, text: str, message: str) -> None:
    with open(os.path.join(worktree, file), "w", encoding="utf-8") as out:
        out.write(text)
    author = ["-c", "user.name=example", "-c", "user.email=example@localhost"]
    subprocess.run(["git", "-C", worktree, "add", file], check=True)
    subprocess.run(["git", "-C", worktree, *author, "commit", "--quiet", "-m", message], check=True)
    tell(f"commits: {message}")


async def analyse(tools: Tools, task: dict) -> None:
    listed = await tools.names()
    tell(f"is listed {len(listed)} tools; get_process_state among them: {'get_process_state' in listed}")
    refused = await tools.client.call_tool("set_process_decision", {"decision": "abort", "reasoning": "I wish"})
    tell(f"tries set_process_decision: {refused.content[0].text}")
    text = "The greeting greets nobody by name. It has no test.\n\n- the text is fixed, see greet.sh:2\n- no test at all\n"
    await tools("write_result", result=text, key_files=["greet.sh"])
    tell("writes its result")


async def research(tools: Tools, task: dict) -> None:
    summary = (await tools("read_result_summary", task_name="analyse"))["summary_text"]
    tell(f"reads what analyse found: {summary.splitlines()[0]}")
    written = await tools("write_knowledge", key="greetings", content="Take the name as $1.", reason="found while researching")
    tell(f"writes knowledge 'greetings', version {written['version']}")


async def write_tests(tools: Tools, task: dict) -> None:
    test = '#!/bin/sh\n[ "$(sh greet.sh Ada)" = "Hello, Ada!" ]\n'
    commit(task["worktree"], "test.sh", test, "Test: greet by name")


async def implement(tools: Tools, task: dict) -> None:
    found = (await tools("search_knowledge", query="how do greetings take a name?"))["results"]
    tell("finds: " + ", ".join(sorted(f"{hit['source']} '{hit['title']}'" for hit in found)))
    commit(task["worktree"], "greet.sh", '#!/bin/sh\n# TODO: without a name\necho "Hello, $1!"\n', "Greet by name")
    await tools("write_result", result="The greeting takes a name. Without one it is still wrong.")


async def before(tools: Tools, task: dict) -> None:
    state = await tools("get_process_state")
    step = state["pending_steps"][0]["task_name"]
    done = [each["task_name"] for each in state["completed_steps"]]
    tell(f"looks: done {done}, next '{step}', may inject {state['injections_left']} more times")
    if step == "implement" and "write-tests" not in done:
        commits = (await tools("get_commit_log", since_commit="start"))["commits"]
        summary = (await tools("read_result_summary", task_name="analyse"))["summary_text"]
        if not commits and "no test" in summary:
            answer = await tools("inject_steps", steps=[{"task_name": "write-tests"}])
            tell(f"injects {answer['steps']} before '{step}'")
            return
    if step == "review":
        diff = (await tools("get_git_diff"))["diff"]
        if "+# TODO" in diff:
            await tools("set_process_decision", decision="abort", reasoning="the change says itself that it is not done")
            tell("sees a TODO in the difference, and aborts")
            return
    await tools("set_process_decision", decision="proceed", reasoning=f"nothing keeps '{step}' from running")
    tell("proceeds")


async def after(tools: Tools, task: dict) -> None:
    state = await tools("get_process_state")
    last = state["completed_steps"][-1]
    tell(f"saw step {last['index']} ('{last['task_name']}') end {'well' if last['success'] else 'badly'}")


async def finalize(tools: Tools, task: dict) -> None:
    state = await tools("get_process_state")
    decisions = [each["decision"] for each in state["orchestrator_decisions"]]
    tell(f"sums up: {len(state['completed_steps'])} steps done, decisions {decisions}")
    template = await tools("load_artifact_template", template_name="pr_description")
    body = template["content"].replace("{What changes, in one line}", "Greet by name (not done)")
    await tools("write_artifact", title="Description", content=body, format=template["format"], template_name=template["name"])
    listed = (await tools("list_artifacts"))["artifacts"]
    tell("leaves artifacts: " + ", ".join(each["title"] for each in listed))


WORK = {
    "analyse": analyse,
    "research": research,
    "write-tests": write_tests,
    "implement": implement,
    "orchestrator-pre": before,
    "orchestrator-post": after,
    "orchestrator-finalize": finalize,
}


async def main(address: str, task: dict) -> None:
    headers = {"X-Toolgate-Task-ID": task["task_key"]}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with mcp.Client(streamable_http_client(address, http_client=http)) as client:
            await WORK[task["name"]](Tools(client), task)


asyncio.run(main(sys.argv[1], json.load(sys.stdin)))
