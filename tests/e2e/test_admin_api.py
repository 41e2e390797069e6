"""What `/api/v1` says of itself holds: schemathesis asks every address for everything its description allows, and more."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gate import Gate, serving

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 12

CALLERS = {
    "operator": ("--user", "olga", "--operator"),
    "admin": ("--user", "ada"),
    "member": ("--user", "mel"),
    "nobody": None,
}


@pytest.fixture(scope="module")
def peopled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with serving(tmp_path_factory.mktemp("admin") / "data") as gate:
        gate.command("tenant", "add", "acme", "--owner", "ada")
        gate.command("tenant", "member", "set", "acme", "mel")
        yield gate


def described(gate: Gate) -> schemathesis.BaseSchema:
    token = gate.mint("--user", "olga", "--operator")
    headers = {"Authorization": f"Bearer {token}"}
    return schemathesis.openapi.from_url(f"http://{gate.address}/api/v1/openapi.json", headers=headers)


def ask(operation: schemathesis.APIOperation, caller: str, headers: dict[str, str]) -> None:
    is_admin = operation.path.startswith("/admin")

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def holds(case: schemathesis.Case) -> None:
        answered = case.call_and_validate(headers=headers, checks=CHECKS, timeout=30)
        if is_admin and caller == "nobody":
            assert answered.status_code == 401
        if is_admin and caller == "member":
            assert answered.status_code in (400, 403, 413, 415)

    holds()


@pytest.mark.parametrize("caller", CALLERS)
def test_every_answer_is_one_that_is_described(peopled: Gate, caller: str) -> None:
    facts = CALLERS[caller]
    headers = {"Authorization": f"Bearer {peopled.mint(*facts)}"} if facts else {}
    operations = [found.ok() for found in described(peopled).get_all_operations()]
    assert len(operations) >= 50
    for operation in operations:
        ask(operation, caller, headers)


def test_the_description_names_every_tool_of_the_pack_once(peopled: Gate) -> None:
    listed = json.loads(peopled.command("catalog", "list", "--json"))
    tools = sorted(row["tool_name"] for row in listed["tools"] if row["source"] == "admin")
    described_by = sorted(
        found.ok().definition.raw["operationId"]
        for found in described(peopled).get_all_operations()
        if found.ok().path.startswith("/admin")
    )
    assert described_by == tools
