"""Everything the official conformance suite asks of a server, in either era. Standard library only.

conformance.py ERA stdio              ERA: modern (2026-07-28 alone) or legacy (initialize, 2025-11-25)
conformance.py ERA http PORT_FILE     listens on a free port of 127.0.0.1 and writes its number into the file

The tools are written once and ask their client through a `Turn`. In the modern era asking ends the request with
`input_required`; in the legacy era it is a request to the client while the call runs.
"""

import sys

from conformance.legacy import Legacy
from conformance.modern import Modern
from conformance.over_http import serve_http
from conformance.over_stdio import serve_stdio
from conformance.shelf import Shelf

ERAS = {"modern": Modern, "legacy": Legacy}


def main(arguments: list[str]) -> None:
    match arguments:
        case [era, "stdio"] if era in ERAS:
            serve_stdio(ERAS[era](Shelf()))
        case [era, "http", port_file] if era in ERAS:
            serve_http(ERAS[era](Shelf()), port_file)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
