"""The verifier of passes: compares a graph before and after one.

It runs where `TENSORLOOM_VERIFY_PASSES` is 1, as in all tests. docs/rewrites.md says
what it checks, `verifier.py` how.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.master.verify.verifier import Verifier

#: Whether passes are verified, decided when the process starts.
ENABLED: Final[bool] = os.environ.get("TENSORLOOM_VERIFY_PASSES", "") not in ("", "0")


def new_verifier(preserve: Collection[str]) -> Verifier:
    """A verifier of the passes over one graph; loads what it needs.

    Args:
      preserve: the nodes that every pass must keep.
    """
    from tensorloom.master.verify.verifier import Verifier

    return Verifier(preserve)
