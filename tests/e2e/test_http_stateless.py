"""Protocol 2026-07-28 on plain HTTP."""

import httpx
import pytest

from asking import Caller
from raw import STATELESS, message, post, stateless

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def refused(response: httpx.Response, status: int, code: int) -> dict:
    assert (response.status_code, message(response)["error"]["code"]) == (status, code), response.text
    return message(response)["error"]


def test_discover_says_what_the_gate_speaks(served):
    answered = post(served, *stateless("server/discover"))
    assert answered.status_code == 200
    assert "mcp-session-id" not in answered.headers
    result = message(answered)["result"]
    assert STATELESS in result["supportedVersions"]
    assert "tools" in result["capabilities"]
    assert result["resultType"] == "complete"
    assert isinstance(result["ttlMs"], int) and result["cacheScope"] in ("public", "private")


@pytest.mark.parametrize("signed_in", [False, True], ids=["stranger", "user"])
def test_a_list_is_private_to_its_caller(served, signed_in):
    caller = Caller(token=served.mint("--user", "alice")) if signed_in else Caller()
    answered = post(served, *stateless("tools/list"), caller)
    assert answered.status_code == 200
    result = message(answered)["result"]
    assert result["resultType"] == "complete"
    assert result["cacheScope"] == "private"
    assert isinstance(result["ttlMs"], int) and result["ttlMs"] >= 0


def test_a_call_needs_no_handshake(served):
    caller = Caller(token=served.mint("--user", "alice"))
    body, headers = stateless("tools/call", {"name": "list_tasks", "arguments": {}})
    answered = post(served, body, headers, caller)
    assert answered.status_code == 200
    assert message(answered)["result"]["resultType"] == "complete"


@pytest.mark.parametrize("missing", [VERSION, CAPABILITIES])
def test_a_request_without_its_meta_is_refused(served, missing):
    body, headers = stateless("tools/list")
    del body["params"]["_meta"][missing]
    refused(post(served, body, headers), 400, -32602)


@pytest.mark.parametrize(
    "header, value",
    [("Mcp-Method", "tools/call"), ("Mcp-Name", "help"), ("MCP-Protocol-Version", "2025-11-25")],
)
def test_a_header_that_contradicts_the_body_is_refused(served, header, value):
    body, headers = stateless("tools/list")
    if header == "Mcp-Name":
        body, headers = stateless("tools/call", {"name": "list_tasks", "arguments": {}})
    refused(post(served, body, {**headers, header: value}), 400, -32020)


@pytest.mark.parametrize("header", ["Mcp-Method", "Mcp-Name"])
def test_a_missing_header_is_refused(served, header):
    body, headers = stateless("tools/call", {"name": "help", "arguments": {}})
    del headers[header]
    refused(post(served, body, headers), 400, -32020)


def test_an_unsupported_version_is_told_the_supported_ones(served):
    body, headers = stateless("tools/list")
    body["params"]["_meta"][VERSION] = headers["MCP-Protocol-Version"] = "2099-01-01"
    error = refused(post(served, body, headers), 400, -32022)
    assert STATELESS in error["data"]["supported"]
    assert error["data"]["requested"] == "2099-01-01"


@pytest.mark.parametrize("method", ["nope/nope", "ping", "logging/setLevel", "resources/subscribe"])
def test_an_unknown_or_abolished_method_is_not_found(served, method):
    refused(post(served, *stateless(method)), 404, -32601)


def test_an_unknown_tool_is_named(served):
    answered = post(served, *stateless("tools/call", {"name": "nope", "arguments": {}}))
    assert answered.status_code in (200, 400)
    assert message(answered)["error"]["code"] == -32602
    assert message(answered)["error"]["message"] == "Unknown tool: nope"


def test_a_bound_argument_without_its_fact_names_the_argument(served):
    caller = Caller(task_key=served.start_task("--process", "demo").task_key)
    body, headers = stateless("tools/call", {"name": "add_task", "arguments": {"title": "x"}})
    assert "user_id" in refused(post(served, body, headers, caller), 400, -32602)["message"]
