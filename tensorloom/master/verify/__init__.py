"""The verifier of passes: compares a graph before and after one.

It runs where `TENSORLOOM_VERIFY_PASSES` is 1, as in all tests. docs/rewrites.md says
what it checks; `verifier.py` how within a graph, `structure.py` across functions.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.interfaces import StepSignature
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


def check_pruned(before: GraphIR, after: GraphIR, signature: StepSignature) -> None:
    """Compares a session's graph with what pruning left of it for a step."""
    if ENABLED:
        from tensorloom.master.verify import structure

        structure.check_pruned(before, after, signature)


def check_structure(
    run_pass: str,
    before: GraphIR,
    after: GraphIR,
    preserve: Collection[str],
    *,
    own_names: bool = True,
) -> None:
    """Compares the graphs before and after a pass that moves nodes between functions.

    Args:
      preserve: the nodes that the pass must keep.
      own_names: nodes that moved into a function are called there as they were.
    """
    if ENABLED:
        from tensorloom.master.verify import structure

        structure.check_structure(
            run_pass, before, after, preserve, own_names=own_names
        )
