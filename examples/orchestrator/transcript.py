"""The transcript of the run in the guide: compares it, or with --transcript writes it."""

from __future__ import annotations

import re
import sys

BEGIN, END = "<!-- examples/orchestrator/run --transcript -->\n", "<!-- end -->\n"

page, said, option = sys.argv[1:4]
with open(said, encoding="utf-8") as file:
    text = file.read()
# what differs from run to run
text = re.sub(r"\b(task|proc)_[A-Za-z0-9_-]+", r"\1_…", text)
block = "".join(f"    {line}".rstrip() + "\n" for line in text.strip().splitlines())

with open(page, encoding="utf-8") as file:
    before, rest = file.read().split(BEGIN)
now, after = rest.split(END)
if option == "--transcript":
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{block}\n{END}{after}")
elif now.strip("\n") != block.strip("\n"):
    sys.exit("the transcript in docs/processes.md is another: write it again with examples/orchestrator/run --transcript")
