"""The scenarios of the conformance suite: what each needs of a gateway, and which can't be, across the eras."""

from __future__ import annotations

ERA_OF = {"2026-07-28": "modern", "2025-11-25": "legacy"}
# Scenarios of optional extensions, which the suite runs without counting them.
EXTENSIONS = "tasks-"

# In both revisions.
SHARED = {
    "dns-rebinding-protection": {"tools"},
    "json-schema-2020-12": {"tools"},
    "server-sse-multiple-streams": {"tools"},
    "tools-list": {"tools"},
    "tools-call-simple-text": {"tools"},
    "tools-call-image": {"tools"},
    "tools-call-audio": {"tools"},
    "tools-call-embedded-resource": {"tools"},
    "tools-call-mixed-content": {"tools"},
    "tools-call-error": {"tools"},
    "tools-call-with-progress": {"tools"},
    "completion-complete": {"completion", "prompts"},
    "resources-list": {"resources"},
    "resources-read-text": {"resources"},
    "resources-read-binary": {"resources"},
    "resources-templates-read": {"resources"},
    "prompts-list": {"prompts"},
    "prompts-get-simple": {"prompts"},
    "prompts-get-with-args": {"prompts"},
    "prompts-get-embedded-resource": {"prompts"},
    "prompts-get-with-image": {"prompts"},
}

MODERN = {
    "server-stateless": {"tools", "prompts", "asking", "logging"},
    "http-header-validation": {"tools"},
    "http-custom-header-server-validation": {"tools"},
    "caching": {"tools", "prompts", "resources"},
    "sep-2164-resource-not-found": {"resources"},
    "input-required-result-basic-elicitation": {"asking"},
    "input-required-result-basic-sampling": {"asking"},
    "input-required-result-basic-list-roots": {"asking"},
    "input-required-result-request-state": {"asking"},
    "input-required-result-multiple-input-requests": {"asking"},
    "input-required-result-multi-round": {"asking"},
    "input-required-result-missing-input-response": {"asking"},
    "input-required-result-non-tool-request": {"asking", "prompts"},
    "input-required-result-result-type": {"asking"},
    "input-required-result-unsupported-methods": {"tools"},
    "input-required-result-tampered-state": {"asking"},
    "input-required-result-capability-check": {"asking"},
    "input-required-result-ignore-extra-params": {"asking"},
    "input-required-result-validate-input": {"asking"},
}

LEGACY = {
    "server-initialize": {"tools"},
    "server-session-lifecycle": {"tools"},
    "server-sse-polling": {"tools"},
    "ping": {"tools"},
    "logging-set-level": {"logging"},
    "tools-call-with-logging": {"logging"},
    "tools-call-sampling": {"asking"},
    "tools-call-elicitation": {"asking"},
    "elicitation-sep1034-defaults": {"asking"},
    "elicitation-sep1330-enums": {"asking"},
    "resources-subscribe": {"resources", "subscribing"},
    "resources-unsubscribe": {"resources", "subscribing"},
}

SCENARIOS = {"2026-07-28": {**SHARED, **MODERN}, "2025-11-25": {**SHARED, **LEGACY}}

# With the reason: no gateway could, by revision of the suite and era of the server.
IMPOSSIBLE = {
    ("2026-07-28", "legacy"): {
        "input-required-result-basic-elicitation": (
            "the suite wants the question under the server's own key, user_name; in the older era a question has no key"
        ),
        "input-required-result-ignore-extra-params": (
            "answers come before the question, under a key that a question of the older era does not have"
        ),
    },
}
# On standard streams a server of the older era does not say which call a question belongs to. The suite of the newer era
# leaves calls behind half-way, and from then on a question could be theirs: it is refused rather than guessed at.
LEAVES_CALLS_BEHIND = ("2026-07-28", "legacy", "child")


def runnable(revision: str, era: str, transport: str) -> list[str]:
    """The scenarios that should pass before a server of this era, reached in this way."""
    left_out = set(IMPOSSIBLE.get((revision, era), {}))
    if (revision, era, transport) == LEAVES_CALLS_BEHIND:
        left_out |= {name for name, needs in SCENARIOS[revision].items() if "asking" in needs}
    return [name for name in SCENARIOS[revision] if name not in left_out]


def impossible(revision: str, era: str, transport: str) -> list[str]:
    """The scenarios that no gateway could pass; on standard streams they are not even asked."""
    return [] if (revision, era, transport) == LEAVES_CALLS_BEHIND else list(IMPOSSIBLE.get((revision, era), {}))
