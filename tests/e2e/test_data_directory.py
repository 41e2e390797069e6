"""One data directory: behind both transports at once, and with the token given each way."""

from dataclasses import replace

from asking import ANONYMOUS, Call, Caller, Place
from clients.python_sdk import PythonSdk

PYTHON = PythonSdk("auto")


def test_what_is_added_over_http_is_listed_over_stdio(served):
    alice = Caller(token=served.mint("--user", "alice-of-both"))
    [added] = PYTHON.ask(Place(served, "http"), alice, [Call("add_task", {"title": "Buy milk"})])
    [listed] = PYTHON.ask(Place(served, "stdio"), alice, [Call("list_tasks")])
    assert [task["id"] for task in listed.structured["tasks"]] == [added.structured["task_id"]]


def test_a_token_may_be_given_as_an_argument(unserved):
    token = unserved.mint("--user", "alice-by-argument")
    with_token = Place(replace(unserved, stdio_arguments=("--token", token)), "stdio")
    [listed] = PYTHON.ask(with_token, ANONYMOUS, [Call("list_tasks")])
    assert listed.structured == {"tasks": []}
