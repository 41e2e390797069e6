"""How everything on offer is described to clients: data alone."""

from __future__ import annotations

from typing import Any

from .tools import TOOLS

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


def text_argument(name: str, description: str, **more: Any) -> dict[str, Any]:
    described = {"type": "string", "description": description, **more}
    return {"type": "object", "properties": {name: described}, "required": [name]}


SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

SCHEMAS = {
    "test_sampling": text_argument("prompt", "What to send to the model"),
    "test_elicitation": text_argument("message", "What to show to the user"),
    "test_custom_header": text_argument("region", "Repeated in a header", **{"x-mcp-header": "Region"}),
    "json_schema_2020_12_tool": SCHEMA_2020_12,
}


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": TOOLS[name].__doc__, "inputSchema": SCHEMAS.get(name, NOTHING)}


def arguments(**described: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": each, "required": True} for name, each in described.items()]


PROMPTS = [
    {"name": "test_simple_prompt", "description": "A prompt without arguments"},
    {
        "name": "test_prompt_with_arguments",
        "description": "A prompt that repeats its arguments",
        "arguments": arguments(arg1="First test argument", arg2="Second test argument"),
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "A prompt that embeds a resource",
        "arguments": arguments(resourceUri="Address of the resource to embed"),
    },
    {"name": "test_prompt_with_image", "description": "A prompt with an image"},
    {"name": "test_input_required_result_prompt", "description": "A prompt that asks the user for its context"},
    {"name": "test_dynamic_prompt", "description": "A prompt that comes and goes: test_trigger_prompt_change"},
]

RESOURCES = [
    {"uri": "test://static-text", "name": "Static text", "description": "A text", "mimeType": "text/plain"},
    {"uri": "test://static-binary", "name": "Static binary", "description": "An image", "mimeType": "image/png"},
    {
        "uri": "test://watched-resource",
        "name": "Watched",
        "description": "A text that test_trigger_resource_update changes",
        "mimeType": "text/plain",
    },
    {
        "uri": "test://dynamic-resource",
        "name": "Dynamic",
        "description": "A resource that comes and goes: test_trigger_resource_change",
        "mimeType": "text/plain",
    },
]

TEMPLATES = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "By id",
        "description": "Data for an id",
        "mimeType": "application/json",
    }
]
