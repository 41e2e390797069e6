"""The transcript of an example's run in its guide: writes it with --transcript, else compares it.

    transcript.py EXAMPLE PAGE SAID [--transcript]
"""

from __future__ import annotations

import re
import sys

example, page, said, option = sys.argv[1:5]
begin, end = f"<!-- examples/{example}/run --transcript -->\n", "<!-- end -->\n"
with open(said, encoding="utf-8") as file:
    text = file.read()
# what differs from run to run
text = re.sub(r"\b(task|proc)_[A-Za-z0-9_-]+", r"\1_…", text)
block = "".join(f"    {line}".rstrip() + "\n" for line in text.strip().splitlines())

with open(page, encoding="utf-8") as file:
    before, rest = file.read().split(begin)
now, after = rest.split(end)
if option == "--transcript":
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n{block}\n{end}{after}")
elif now.strip("\n") != block.strip("\n"):
    sys.exit(f"the transcript in {page} is another: write it again with examples/{example}/run --transcript")
