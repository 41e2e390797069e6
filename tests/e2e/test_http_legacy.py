"""The protocols with a handshake (2025-11-25, 2025-06-18), on plain HTTP."""

import httpx
import pytest

from asking import Caller
from raw import LEGACY, initialize, message, open_session, post, request


@pytest.mark.parametrize("version", [LEGACY, "2025-06-18"])
def test_the_handshake_agrees_on_the_version_asked_for(served, version):
    opened = post(served, initialize(version))
    assert opened.status_code == 200
    result = message(opened)["result"]
    assert result["protocolVersion"] == version
    assert "tools" in result["capabilities"]
    assert result["serverInfo"]["name"]


def test_an_unknown_version_is_answered_with_one_the_gate_speaks(served):
    opened = post(served, initialize("1999-01-01"))
    assert opened.status_code == 200
    assert message(opened)["result"]["protocolVersion"] == LEGACY


def test_a_list_has_no_words_of_the_newer_protocol(served):
    listed = post(served, request("tools/list"), open_session(served))
    assert listed.status_code == 200
    result = message(listed)["result"]
    assert {"authenticate", "help"} <= {tool["name"] for tool in result["tools"]}
    assert not {"resultType", "ttlMs", "cacheScope"} & result.keys()


def test_ping_is_answered(served):
    assert message(post(served, request("ping"), open_session(served)))["result"] == {}


def test_the_answer_carries_the_requests_own_id(served):
    headers = open_session(served)
    for number in (7, "seven"):
        assert message(post(served, request("ping", number=number), headers))["id"] == number


def test_an_unknown_tool_is_an_error_a_legacy_client_can_read(served):
    # 200, not 4xx: the TypeScript SDK drops the JSON-RPC error of any other status in this era.
    answered = post(served, request("tools/call", {"name": "nope", "arguments": {}}), open_session(served))
    assert answered.status_code == 200
    assert message(answered)["error"]["code"] == -32602
    assert message(answered)["error"]["message"] == "Unknown tool: nope"


def test_an_unknown_method_is_method_not_found(served):
    answered = post(served, request("nope/nope"), open_session(served))
    assert message(answered)["error"]["code"] == -32601


def test_a_bound_argument_without_its_fact_names_the_argument(served):
    caller = Caller(task_key=served.start_task("--process", "demo").task_key)
    headers = open_session(served, caller)
    answered = post(served, request("tools/call", {"name": "add_task", "arguments": {"title": "x"}}), headers, caller)
    assert answered.status_code in (200, 400)
    assert message(answered)["error"]["code"] == -32602
    assert "user_id" in message(answered)["error"]["message"]


def test_a_session_that_was_never_opened_is_unknown(served):
    headers = {"MCP-Protocol-Version": LEGACY, "Mcp-Session-Id": "never-opened"}
    assert post(served, request("tools/list"), headers).status_code == 404


def test_a_session_that_was_ended_is_unknown(served):
    headers = open_session(served)
    if "Mcp-Session-Id" not in headers:
        pytest.skip("the gate opened no session")
    assert httpx.delete(served.url, headers=headers).status_code in (200, 204)
    assert post(served, request("tools/list"), headers).status_code == 404


def test_a_session_is_of_no_use_to_another_user(served):
    alice, bob = (Caller(token=served.mint("--user", name)) for name in ("alice", "bob"))
    headers = open_session(served, alice)
    assert post(served, request("tools/list"), headers, alice).status_code == 200
    assert post(served, request("tools/list"), headers, bob).status_code in (403, 404)


def test_a_stranger_may_sign_in_within_the_session(served):
    headers = open_session(served)
    alice = Caller(token=served.mint("--user", "alice"))
    names = [tool["name"] for tool in message(post(served, request("tools/list"), headers, alice))["result"]["tools"]]
    assert "add_task" in names
