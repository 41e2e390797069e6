"""The official conformance suite: run as a whole against an address, and what each scenario found."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients.node import node, packages

PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
WITHIN_SECONDS = 120
# A scenario's results are in a folder named for it and for when it ran.
FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
# A check that warns is about a SHOULD; what the server behind the gate keeps, the gate must not lose.
GOOD = {"SUCCESS", "INFO", "SKIPPED"}


@dataclass(frozen=True)
class Findings:
    """What each scenario found, by its name."""

    checks: dict[str, list[dict[str, Any]]]
    said: str

    def complaints(self, scenario: str) -> str:
        """Every check that is not good, for people; empty if all are. A scenario that did not run is a complaint."""
        if scenario not in self.checks:
            return f"{scenario} did not run; the suite said:\n{self.said[-2000:]}"
        bad = [check for check in self.checks[scenario] if check["status"] not in GOOD]
        return "\n".join(f"{check['status']} {check['id']}: {check.get('errorMessage')}" for check in bad)


def run(url: str, revision: str, out: Path) -> Findings:
    """Everything the revision requires, and what the suite runs beside it without counting it."""
    line = [node(), str(packages() / PROGRAM), "server", "--url", url, "--requirements", revision, "-o", str(out)]
    # The exit code says whether all is well; which scenario is not is in the results.
    done = subprocess.run(line, capture_output=True, text=True, timeout=WITHIN_SECONDS)
    checks = {}
    for results in out.glob("*/checks.json"):
        named = FOLDER.fullmatch(results.parent.name)
        assert named, f"the suite names its folders in another way: {results.parent.name}"
        checks[named["scenario"]] = json.loads(results.read_text())
    return Findings(checks, done.stdout + done.stderr)
