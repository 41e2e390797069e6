"""What each caller is shown."""

from asking import ANONYMOUS, BAD_TOKEN, LIST, Call, Caller

HELP = Call("help")
# Shown to everybody, marked where the caller can't call them.
PUBLIC = [
    "analyze_activity",
    "analyze_meal_nutrition",
    "analyze_performance_trends",
    "calculate_daily_nutrition",
    "calculate_metrics",
    "compare_activities",
    "detect_patterns",
    "get_activities",
    "get_activity_intelligence",
    "get_athlete",
    "get_configuration_catalog",
    "get_configuration_profiles",
    "get_food_details",
    "get_stats",
    "search_food",
    "suggest_goals",
    "validate_configuration",
]
OF_A_USER = [
    "add_task",
    "complete_task",
    "connect_provider",
    "delete_recipe",
    "delete_task",
    "disconnect_provider",
    "get_connection_status",
    "list_tasks",
    "save_recipe",
    "set_goal",
    "update_task",
    "update_user_configuration",
]
# For anyone who is signed in, a task as much as a user.
SIGNED_IN_SEES = [
    "authenticate",
    "flow_close",
    "flow_open",
    "help",
    "plan_execute",
    "plan_preview",
    "plan_propose",
    "plan_show",
    "undo",
]
STRANGERS_SEE = sorted(["authenticate", "help", *PUBLIC])
SHARED_BY_TASKS = [
    "get_knowledge",
    "list_artifact_templates",
    "list_artifacts",
    "load_artifact",
    "load_artifact_template",
    "load_result",
    "read_result_summary",
    "search_knowledge",
    "view_knowledge_history",
    "write_artifact",
    "write_knowledge",
    "write_result",
]
TASK_SEES = sorted([*SIGNED_IN_SEES, *PUBLIC, *SHARED_BY_TASKS])
USER_SEES = sorted([*SIGNED_IN_SEES, *PUBLIC, *OF_A_USER])


def test_a_stranger_sees_how_to_begin_and_what_is_shown_to_everybody(client, place):
    [listed] = client.ask(place, ANONYMOUS, [LIST])
    assert listed.names == STRANGERS_SEE


def test_a_bad_token_sees_what_a_stranger_sees(client, place):
    [listed] = client.ask(place, BAD_TOKEN, [LIST])
    assert listed.names == STRANGERS_SEE


def test_a_user_sees_their_own_tools_by_name(client, place, user):
    [listed] = client.ask(place, user("alice"), [LIST])
    assert listed.names == USER_SEES


def test_no_listed_tool_asks_who_the_user_is(client, place, user):
    [listed] = client.ask(place, user("alice"), [LIST])
    for tool in listed.tools:
        assert tool["inputSchema"]["type"] == "object"
        assert "user_id" not in tool["inputSchema"].get("properties", {}), tool["name"]
        assert "user_id" not in tool["inputSchema"].get("required", []), tool["name"]


def test_two_listings_are_equal(client, place, user):
    first, second = client.ask(place, user("alice"), [LIST, LIST])
    assert first == second


def test_a_task_alone_is_known_as_one_and_sees_no_tool_that_needs_a_user(client, served_over_http):
    task = served_over_http.gate.start_task("--process", "demo")
    listed, helped = client.ask(served_over_http, Caller(task_key=task.task_key), [LIST, HELP])
    assert listed.names == TASK_SEES
    assert helped.structured["context"] == {"caller_type": "task"}


def test_a_task_and_its_owner_together_see_the_owners_tools(client, served_over_http):
    task = served_over_http.gate.start_task("--process", "demo", "--owner", "alice")
    both = Caller(token=served_over_http.gate.mint("--user", "alice"), task_key=task.task_key)
    [listed] = client.ask(served_over_http, both, [LIST])
    assert listed.names == sorted([*USER_SEES, *SHARED_BY_TASKS])


def test_an_unknown_task_key_sees_what_a_stranger_sees(client, served_over_http):
    [listed] = client.ask(served_over_http, Caller(task_key="0" * 32), [LIST])
    assert listed.names == STRANGERS_SEE


def test_a_task_token_says_what_the_task_header_says(client, place):
    task = place.gate.start_task("--process", "demo")
    listed, helped = client.ask(place, Caller(token=place.gate.mint("--task", task.task_id)), [LIST, HELP])
    assert listed.names == TASK_SEES
    assert helped.structured["context"] == {"caller_type": "task"}
