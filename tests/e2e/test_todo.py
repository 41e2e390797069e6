"""What two users do with the todo tools, and what they can't do to each other."""

import json

import pytest

from asking import Call


def add(client, place, caller, title: str) -> int:
    [added] = client.ask(place, caller, [Call("add_task", {"title": title})])
    assert not added.is_error, added
    assert added.structured["status"] == "created"
    assert added.structured["title"] == title
    return added.structured["task_id"]


def test_alice_sees_what_she_added_and_bob_does_not(client, place, user):
    alice, bob = user("alice"), user("bob")
    milk = add(client, place, alice, "Buy milk")
    [hers] = client.ask(place, alice, [Call("list_tasks")])
    [his] = client.ask(place, bob, [Call("list_tasks")])
    assert [(task["id"], task["title"], task["completed"]) for task in hers.structured["tasks"]] == [
        (milk, "Buy milk", False)
    ]
    assert his.structured == {"tasks": []}
    assert not his.is_error


def test_the_text_of_a_list_is_the_bare_array(client, place, user):
    alice = user("alice")
    add(client, place, alice, "Buy milk")
    [listed] = client.ask(place, alice, [Call("list_tasks")])
    assert json.loads(listed.text) == listed.structured["tasks"]


@pytest.mark.parametrize("tool", ["complete_task", "delete_task"])
def test_bob_cannot_touch_what_alice_added(client, place, user, tool):
    alice, bob = user("alice"), user("bob")
    milk = add(client, place, alice, "Buy milk")
    [refused] = client.ask(place, bob, [Call(tool, {"task_id": milk})])
    assert refused.is_error
    assert refused.structured == {"error": "Task not found", "code": "not_found", "task_id": milk}
    [hers] = client.ask(place, alice, [Call("list_tasks")])
    assert [(task["id"], task["completed"]) for task in hers.structured["tasks"]] == [(milk, False)]


def test_another_users_task_and_a_missing_one_answer_alike(client, place, user):
    alice, bob = user("alice"), user("bob")
    milk, missing = add(client, place, alice, "Buy milk"), 999_999_999
    others, nobodys = client.ask(
        place, bob, [Call("complete_task", {"task_id": milk}), Call("complete_task", {"task_id": missing})]
    )
    assert json.dumps(others.raw).replace(str(milk), "N") == json.dumps(nobodys.raw).replace(str(missing), "N")


def test_a_task_is_completed_twice_changed_and_deleted(client, place, user):
    alice = user("alice")
    milk = add(client, place, alice, "Buy milk")
    done, again, changed, deleted, listed = client.ask(
        place,
        alice,
        [
            Call("complete_task", {"task_id": milk}),
            Call("complete_task", {"task_id": milk}),
            Call("update_task", {"task_id": milk, "title": "Buy oat milk"}),
            Call("delete_task", {"task_id": milk}),
            Call("list_tasks"),
        ],
    )
    assert done.structured == again.structured == {"task_id": milk, "status": "completed", "title": "Buy milk"}
    assert changed.structured == {"task_id": milk, "status": "updated", "title": "Buy oat milk"}
    assert deleted.structured == {"task_id": milk, "status": "deleted", "title": "Buy oat milk"}
    assert listed.structured == {"tasks": []}


def test_a_blank_title_is_refused_in_the_tools_own_words(client, place, user):
    [refused] = client.ask(place, user("alice"), [Call("add_task", {"title": "   "})])
    assert refused.is_error
    assert refused.structured == {"error": "Title is required", "code": "validation"}
