"""Calls that must not run, and how the caller is told."""

import pytest

from asking import ANONYMOUS, BAD_TOKEN, Call, Caller

ADD = Call("add_task", {"title": "Buy milk"})


@pytest.mark.parametrize("caller", [ANONYMOUS, BAD_TOKEN], ids=["stranger", "bad-token"])
def test_a_call_that_needs_identity_says_so(frank_client, place, caller):
    [refused] = frank_client.ask(place, caller, [ADD])
    assert refused.is_error
    assert "requires authentication" in refused.text
    assert refused.structured["code"] == "authentication_required"


@pytest.mark.parametrize("signed_in", [False, True], ids=["stranger", "user"])
def test_an_unknown_tool_is_a_protocol_error(frank_client, place, user, signed_in):
    [refused] = frank_client.ask(place, user("alice") if signed_in else ANONYMOUS, [Call("nope")])
    assert refused.code == -32602
    assert refused.message == "Unknown tool: nope"


def test_a_refusal_does_not_end_the_conversation(frank_client, place, user):
    unknown, added, listed = frank_client.ask(place, user("alice"), [Call("nope"), ADD, Call("list_tasks")])
    assert unknown.code == -32602
    assert [task["id"] for task in listed.structured["tasks"]] == [added.structured["task_id"]]


def test_a_claim_to_be_another_user_is_refused(client, place, user):
    alice = user("alice")
    claim = Call("add_task", {"title": "Buy milk", "user_id": "somebody-else"})
    [refused] = client.ask(place, alice, [claim])
    assert is_refusal(refused)
    [listed] = client.ask(place, alice, [Call("list_tasks")])
    assert listed.structured == {"tasks": []}


def test_a_task_alone_has_no_user_to_add_for(frank_client, served_over_http):
    task = served_over_http.gate.start_task("--process", "demo")
    [refused] = frank_client.ask(served_over_http, Caller(task_key=task.task_key), [ADD])
    assert refused.code in (-32602, None)
    assert "user_id" in refused.message


def test_a_user_working_on_her_own_task_is_still_that_user(client, served_over_http):
    gate = served_over_http.gate
    task = gate.start_task("--owner", "alice", "--process", "demo")
    both = Caller(token=gate.mint("--user", "alice"), task_key=task.task_key)
    [added] = client.ask(served_over_http, both, [ADD])
    assert not added.is_error, added


def is_refusal(answer) -> bool:
    return getattr(answer, "is_error", False) or hasattr(answer, "message")
