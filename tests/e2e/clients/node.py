"""Where the npm packages are and which Node runs them. `cargo xtask test` installs them and sets TOOLGATE_E2E_NODE."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def packages() -> Path:
    """The directory that holds `node_modules`."""
    path = os.environ.get("TOOLGATE_E2E_NODE")
    if not path:
        raise RuntimeError("TOOLGATE_E2E_NODE is not set: give it the directory with node_modules")
    return Path(path).resolve()


def node() -> str:
    """The Node 22 that came with the packages, else the machine's own."""
    for carried in sorted(packages().glob("node_modules/node-linux-*/bin/node")):
        return str(carried)
    own = shutil.which("node")
    if own is None:
        raise RuntimeError("no node: install Node 22.19 or later")
    return own
