"""A coordinator and the agents it starts: each a client of the gate, each doing what the gate tells it.

    team.py ADDRESS FOLDER
"""

import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client

ADDRESS, FOLDER = sys.argv[1], Path(sys.argv[2])
PROJECT = "site"
AGENTS = ["mia", "ann", "bob"]


@asynccontextmanager
async def client(token: str | None = None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with mcp.Client(streamable_http_client(ADDRESS, http_client=http)) as connected:
            yield connected


class Refused(Exception):
    """What a tool says where it says no."""


async def call(connected: mcp.Client, tool: str, **arguments) -> dict:
    result = await connected.call_tool(tool, arguments)
    content = result.structured_content or {}
    if result.is_error:
        raise Refused(content.get("error") or content.get("message"))
    return content


class Agent:
    """One process of an agent: it signs in, asks what to do, does it, and leaves."""

    def __init__(self, name: str, purpose: str) -> None:
        self.name, self.purpose = name, purpose
        self.passkey = (FOLDER / f"{name}.passkey").read_text().strip()
        self.heard = ""

    async def live(self) -> None:
        async with client() as stranger:
            try:
                signed_in = await call(
                    stranger,
                    "authenticate",
                    agent_id=self.name,
                    passkey=self.passkey,
                    project_id=PROJECT,
                    purpose=self.purpose,
                )
            except Refused as no:
                # what it was started for was done meanwhile, or is another process's
                assert str(no) == "No valid purpose for authentication", no
                self.say("has nothing to do")
                return
        async with client(signed_in["session_token"]) as self.gate:
            guide = await call(self.gate, "get_session_guide")
            assert guide["session_purpose"] == self.purpose
            self.say("is here")
            while True:
                told = await call(self.gate, "get_next_action", timeout_seconds=5)
                self.say(told["action"])
                if await getattr(self, f"do_{told['action']}")(told) == "gone":
                    return

    def say(self, what: str) -> None:
        print(f"{self.name:>4} {self.purpose:<4} {what}", flush=True)

    # What any session is told.

    async def do_report_model(self, _told: dict) -> None:
        await call(self.gate, "report_model", provider="example", model_id="by-hand")

    async def do_exit(self, _told: dict) -> str:
        return await self.leave()

    async def do_logout(self, _told: dict) -> str:
        return await self.leave()

    async def leave(self) -> str:
        await call(self.gate, "logout")
        return "gone"

    # What a session with a task is told.

    async def do_get_task(self, _told: dict) -> None:
        self.task = (await call(self.gate, "get_my_task"))["task"]
        self.say(f"has '{self.task['title']}'")

    async def do_create_subtasks(self, told: dict) -> None:
        await call(
            self.gate,
            "create_task",
            title=f"{self.task['title']}, carefully",
            description="The one thing there is to do.",
            parent_task_id=told["task_id"],
        )

    async def do_start_subtask(self, told: dict) -> None:
        await call(self.gate, "update_task_status", task_id=told["subtask"]["task_id"], status="in_progress")

    async def do_execute_subtask(self, told: dict) -> None:
        if self.task["title"] == "Paint it":
            self.heard = await self.ask("mia", "Which colour is the door to be?")
        await call(self.gate, "update_task_status", task_id=told["subtask"]["task_id"], status="done")

    async def do_report_completion(self, _told: dict) -> str:
        summary = f"painted: {self.heard}" if self.heard else "done"
        await call(self.gate, "report_completed", result="success", summary=summary)
        return "gone"

    async def ask(self, whom: str, what: str) -> str:
        """A task session does not talk: it has the chat session of the same agent do so, and reads what came of it."""
        try:
            await call(self.gate, "send_message", target_agent_id=whom, content=what)
            raise SystemExit("a task session could talk")
        except Refused as no:
            self.say(f"can't talk itself: {no}")
        await call(self.gate, "delegate_to_chat_session", target_agent_id=whom, purpose=what)
        while True:
            talks = await call(self.gate, "get_task_conversations")
            if talks["total_count"] and not talks["active_count"]:
                about = talks["conversations"][0]["conversation_id"]
                said = await call(self.gate, "get_conversation_messages", conversation_id=about)
                return next(line["content"] for line in said["messages"] if line["sender_id"] == whom)
            await anyio.sleep(0.1)

    # What a session for chat is told.

    async def do_start_conversation(self, told: dict) -> None:
        self.delegation = told["delegation_id"]
        begun = await call(
            self.gate,
            "start_conversation",
            participant_agent_id=told["target_agent_id"],
            initial_message=told["purpose"],
            max_turns=6,
        )
        self.conversation = begun["conversation_id"]

    async def do_get_pending_messages(self, _told: dict) -> None:
        read = await call(self.gate, "get_pending_messages")
        for line in read["pending_messages"]:
            self.say(f"hears from {line['sender_id']}: {line['content']}")
        if hasattr(self, "conversation"):
            await call(self.gate, "end_conversation", conversation_id=self.conversation, final_message="Thanks.")

    async def do_report_delegation_completed(self, told: dict) -> str:
        await call(self.gate, "report_delegation_completed", delegation_id=told["delegation_id"], result="asked")
        return await self.leave()

    async def do_conversation_request(self, told: dict) -> None:
        await call(self.gate, "get_pending_messages")
        answer = await call(self.gate, "respond_chat", content="Red, two coats")
        assert answer["receiver_id"] == told["from_agent_id"]

    async def do_conversation_ended(self, told: dict) -> str:
        assert told["ended_by"] != self.name, "who ends a conversation knows"
        await call(self.gate, "get_pending_messages")
        return await self.leave()

    async def do_wait_for_messages(self, _told: dict) -> None:
        pass


class Manager(Agent):
    async def do_create_subtasks(self, told: dict) -> None:
        tasks = [
            {"local_id": "sand", "title": "Sand it", "description": "Until it is smooth."},
            {"local_id": "paint", "title": "Paint it", "description": "Ask for the colour.", "dependencies": ["sand"]},
        ]
        made = await call(self.gate, "create_tasks_batch", parent_task_id=told["task_id"], tasks=tasks)
        for worker, local in [("ann", "sand"), ("bob", "paint")]:
            await call(self.gate, "assign_task", task_id=made["local_id_to_real_id"][local], assignee_id=worker)

    async def do_situational_awareness(self, told: dict) -> str | None:
        for task in told["to_dispatch"]:
            await call(self.gate, "update_task_status", task_id=task["task_id"], status="in_progress")
            self.say(f"starts '{task['title']}' with {task['assignee_id']}")
        chosen = await call(self.gate, "select_action", action="wait")
        return "gone" if chosen["action"] == "exit" else None

    async def do_completion_check(self, told: dict) -> str:
        task = await call(self.gate, "get_task", task_id=told["task_id"])
        assert {part["status"] for part in task["subtasks"]} == {"done"}
        await call(self.gate, "report_completed", result="success", summary="The door is red.")
        return "gone"


class Coordinator:
    """Starts and ends processes, and knows nothing of what they work on."""

    def __init__(self) -> None:
        self.token = (FOLDER / "coordinator.token").read_text().strip()
        self.processes = {agent: 0 for agent in AGENTS}

    async def coordinate(self) -> None:
        async with client() as self.gate, anyio.create_task_group() as processes:
            staffed = await self.ask("list_active_projects_with_agents")
            assert [project["project_id"] for project in staffed["projects"]] == [PROJECT]
            quiet = 0
            while quiet < 3:
                reasons = [await self.look_after(agent, processes) for agent in AGENTS]
                # nobody runs, and nobody is to be started
                quiet = quiet + 1 if set(reasons) == {"no_work"} and not any(self.processes.values()) else 0
                await anyio.sleep(0.1)

    async def look_after(self, agent: str, processes) -> str:
        told = await self.ask("get_agent_action", agent_id=agent, project_id=PROJECT)
        if told["action"] == "start":
            print(f"start {agent}: {told['reason']}", flush=True)
            self.processes[agent] += 1
            processes.start_soon(self.run, agent, "chat" if told["reason"] == "has_chat_work" else "task")
        return told["reason"]

    async def run(self, agent: str, purpose: str) -> None:
        await (Manager if agent == "mia" else Agent)(agent, purpose).live()
        self.processes[agent] -= 1
        await self.ask(
            "report_process_exit", agent_id=agent, project_id=PROJECT, remaining_processes=self.processes[agent]
        )

    async def ask(self, tool: str, **arguments) -> dict:
        return await call(self.gate, tool, coordinator_token=self.token, **arguments)


async def main() -> None:
    with anyio.fail_after(120):
        await Coordinator().coordinate()


anyio.run(main)
