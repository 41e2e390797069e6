"""What holds for the endpoint in both eras: broken bodies, foreign pages, probes."""

import httpx
import pytest

from asking import BAD_TOKEN
from raw import message, post, stateless


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_the_probes_answer(served, path):
    assert httpx.get(f"http://{served.address}{path}").status_code == 200


def test_a_body_that_is_not_json_is_a_parse_error(served):
    answered = post(served, b"{not json")
    assert answered.status_code == 400
    assert message(answered)["error"]["code"] == -32700


def test_a_foreign_origin_is_forbidden(served):
    body, headers = stateless("tools/list")
    assert post(served, body, {**headers, "Origin": "https://evil.example"}).status_code == 403


def test_a_foreign_host_is_forbidden(served):
    # A page whose name was pointed at this machine (DNS rebinding) sends its own host.
    body, headers = stateless("tools/list")
    assert post(served, body, {**headers, "Host": "evil.example"}).status_code in (403, 421)


def test_a_bad_token_is_not_repeated_in_the_answer(served):
    answered = post(served, *stateless("tools/call", {"name": "add_task", "arguments": {"title": "x"}}), BAD_TOKEN)
    assert BAD_TOKEN.token not in answered.text


def test_a_token_in_the_address_is_not_looked_at(served):
    body, headers = stateless("tools/list")
    token = served.mint("--user", "alice")
    answered = httpx.post(f"{served.url}?access_token={token}", json=body, headers=headers, timeout=10)
    names = [tool["name"] for tool in message(answered).get("result", {}).get("tools", [])]
    assert "add_task" not in names


def test_there_is_no_standing_stream_without_a_session(served):
    with httpx.stream("GET", served.url, headers={"Accept": "text/event-stream"}, timeout=10) as answered:
        assert answered.status_code in (400, 405)
