"""What each tool does. Its name is the function's, its description the function's first line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from . import content
from .content import said, text
from .questions import elicit, roots, sample
from .shelf import Shelf
from .turn import Turn

Arguments = dict[str, Any]
Result = dict[str, Any]
TOOLS: dict[str, Callable[[Turn, Arguments, Shelf], Result]] = {}

PAUSE_SECONDS = 0.05
STRING = {"type": "string"}


def tool(function: Callable[[Turn, Arguments, Shelf], Result]) -> Callable[[Turn, Arguments, Shelf], Result]:
    TOOLS[function.__name__] = function
    return function


def one_of(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


@tool
def test_simple_text(*_: Any) -> Result:
    """Answers with a text"""
    return said(text("This is a simple text response for testing."))


@tool
def test_image_content(*_: Any) -> Result:
    """Answers with an image"""
    return said(content.image())


@tool
def test_audio_content(*_: Any) -> Result:
    """Answers with a sound"""
    return said(content.audio())


@tool
def test_embedded_resource(*_: Any) -> Result:
    """Answers with a resource"""
    return said(content.resource("test://embedded-resource", "This is an embedded resource content."))


@tool
def test_multiple_content_types(*_: Any) -> Result:
    """Answers with a text, an image and a resource"""
    data = json.dumps({"test": "data", "value": 123})
    mixed = content.resource("test://mixed-content-resource", data, "application/json")
    return said(text("Multiple content types test:"), content.image(), mixed)


@tool
def test_error_handling(*_: Any) -> Result:
    """Always fails"""
    return {**said(text("This tool intentionally returns an error for testing")), "isError": True}


@tool
def test_tool_with_logging(turn: Turn, *_: Any) -> Result:
    """Logs three messages while it runs"""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        turn.log("info", words)
        time.sleep(PAUSE_SECONDS)
    return said(text("Logged three messages."))


@tool
def test_logging_tool(turn: Turn, *_: Any) -> Result:
    """Logs one message for whoever asked for log messages"""
    turn.log("info", "This is for those who asked.")
    return said(text("Logged one message."))


@tool
def test_tool_with_progress(turn: Turn, *_: Any) -> Result:
    """Reports its progress in three steps"""
    for done in (0, 50, 100):
        turn.progress(done, 100)
        time.sleep(PAUSE_SECONDS)
    return said(text("Done in three steps."))


@tool
def test_reconnection(*_: Any) -> Result:
    """Answers after a while"""
    time.sleep(PAUSE_SECONDS)
    return said(text("Still here."))


@tool
def test_custom_header(_turn: Turn, arguments: Arguments, *_: Any) -> Result:
    """Has an argument that clients repeat in a header"""
    return said(text(f"Region: {arguments['region']}"))


@tool
def json_schema_2020_12_tool(_turn: Turn, arguments: Arguments, *_: Any) -> Result:
    """Tool with JSON Schema 2020-12 features"""
    return said(text(json.dumps(arguments)))


@tool
def test_sampling(turn: Turn, arguments: Arguments, *_: Any) -> Result:
    """Asks the client's model"""
    answer = turn.ask({"sample": sample(arguments["prompt"])})["sample"]
    return said(text(f"LLM response: {json.dumps(answer['content'])}"))


@tool
def test_elicitation(turn: Turn, arguments: Arguments, *_: Any) -> Result:
    """Asks the user for a name and an address"""
    wanted = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    answer = turn.ask({"user": elicit(arguments["message"], wanted)})["user"]
    return said(text(f"User response: {json.dumps(answer)}"))


@tool
def test_elicitation_sep1034_defaults(turn: Turn, *_: Any) -> Result:
    """Asks the user, with a default for every kind of value"""
    wanted = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    answer = turn.ask({"profile": elicit("Please check your profile", wanted, required=[])})["profile"]
    return said(text(f"Elicitation completed: {json.dumps(answer)}"))


@tool
def test_elicitation_sep1330_enums(turn: Turn, *_: Any) -> Result:
    """Asks the user to choose, in every way a choice can be described"""
    plain = ["option1", "option2", "option3"]
    titled = one_of(("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option"))
    names = ["Option One", "Option Two", "Option Three"]
    wanted = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    answer = turn.ask({"choices": elicit("Please choose", wanted, required=[])})["choices"]
    return said(text(f"Elicitation completed: {json.dumps(answer)}"))


@tool
def test_missing_capability(turn: Turn, *_: Any) -> Result:
    """Can't work without the client's model"""
    turn.ask({"sample": sample("Are you there?")})
    return said(text("The client has a model."))


@tool
def test_streaming_elicitation(turn: Turn, *_: Any) -> Result:
    """Reports progress and then asks the user"""
    turn.progress(0, 1)
    answer = turn.ask({"confirm": elicit("Shall it go on?", {"ok": {"type": "boolean"}})})["confirm"]
    return said(text(f"Answered: {answer['action']}"))


@tool
def test_trigger_tool_change(_turn: Turn, _arguments: Arguments, shelf: Shelf) -> Result:
    """Takes a tool off the list, or puts it back"""
    shelf.change("tools")
    return said(text("The list of tools changed."))


@tool
def test_trigger_prompt_change(_turn: Turn, _arguments: Arguments, shelf: Shelf) -> Result:
    """Takes a prompt off the list, or puts it back"""
    shelf.change("prompts")
    return said(text("The list of prompts changed."))


@tool
def test_trigger_resource_change(_turn: Turn, _arguments: Arguments, shelf: Shelf) -> Result:
    """Takes a resource off the list, or puts it back"""
    shelf.change("resources")
    return said(text("The list of resources changed."))


@tool
def test_trigger_resource_update(_turn: Turn, _arguments: Arguments, shelf: Shelf) -> Result:
    """Changes the watched resource"""
    shelf.update_watched()
    return said(text("The watched resource changed."))


@tool
def test_dynamic_tool(*_: Any) -> Result:
    """A tool that comes and goes: test_trigger_tool_change"""
    return said(text("Here for the moment."))


@tool
def test_input_required_result_elicitation(turn: Turn, *_: Any) -> Result:
    """Asks the user for a name"""
    answer = turn.ask({"user_name": elicit("What is your name?", {"name": STRING})})["user_name"]
    return said(text(f"Hello, {answer.get('content', {}).get('name', 'stranger')}!"))


@tool
def test_input_required_result_sampling(turn: Turn, *_: Any) -> Result:
    """Asks the client's model for a capital"""
    answer = turn.ask({"capital_question": sample("What is the capital of France?")})["capital_question"]
    return said(text(json.dumps(answer["content"])))


@tool
def test_input_required_result_list_roots(turn: Turn, *_: Any) -> Result:
    """Asks the client for its roots"""
    answer = turn.ask({"client_roots": roots()})["client_roots"]
    return said(text("Roots: " + ", ".join(each["uri"] for each in answer["roots"])))


@tool
def test_input_required_result_request_state(turn: Turn, *_: Any) -> Result:
    """Asks the user and hands out a state to bring back"""
    turn.ask({"confirm": elicit("Please confirm", {"ok": {"type": "boolean"}})}, sealed=True)
    return said(text("state-ok"))


@tool
def test_input_required_result_tampered_state(turn: Turn, *_: Any) -> Result:
    """Asks the user and takes no state but its own"""
    turn.ask({"confirm": elicit("Please confirm", {"ok": {"type": "boolean"}})}, sealed=True)
    return said(text("The state came back as it went."))


@tool
def test_input_required_result_multiple_inputs(turn: Turn, *_: Any) -> Result:
    """Asks the user, the model and for the roots at once"""
    questions = {
        "user_name": elicit("What is your name?", {"name": STRING}),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": roots(),
    }
    answers = turn.ask(questions, sealed=True)
    return said(text(f"Answered: {', '.join(answers)}"))


@tool
def test_input_required_result_multi_round(turn: Turn, *_: Any) -> Result:
    """Asks the user for a name and then for a colour"""
    name = turn.ask({"step1": elicit("Step 1: What is your name?", {"name": STRING})}, sealed=True)["step1"]
    second = elicit("Step 2: What is your favorite color?", {"color": STRING})
    colour = turn.ask({"step2": second}, sealed=True)["step2"]
    return said(text(json.dumps([name, colour])))


@tool
def test_input_required_result_capabilities(turn: Turn, *_: Any) -> Result:
    """Asks for what the client declared and nothing else"""
    questions = {"greeting": sample("Generate a greeting"), "user_name": elicit("What is your name?", {"name": STRING})}
    able = {key: each for key, each in questions.items() if turn.declares(each)}
    answers = turn.ask(able) if able else {}
    return said(text(f"Asked for: {', '.join(answers) or 'nothing'}"))
