"""Says on standard error what a program was given back; each thing once."""

from __future__ import annotations

import sys
from typing import Final

_told: Final[set[str]] = set()


def tell(what: str, instead: str) -> None:
    """Says once that something is gone, and what the program gets in its place."""
    if what in _told:
        return
    if not _told:
        print(
            "tensorloom run: the program uses what newer libraries took away, and gets "
            "it back (docs/legacy.md; --no-legacy turns this off):",
            file=sys.stderr,
        )
    _told.add(what)
    print(f"  {what}: {instead}", file=sys.stderr, flush=True)
