"""Graph passes. The pipeline is the tuple below; each pass is alone in its file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorloom.framework.graph_ir import GraphIR
from tensorloom.master.optimize.target import Evaluate, OptimizeTarget

__all__ = ["PIPELINE", "Evaluate", "OptimizeTarget", "Pass", "optimize"]

# A pass is a function from a graph to a graph; it never changes its argument.
Pass = Callable[[GraphIR, OptimizeTarget], GraphIR]

PIPELINE: Final[tuple[tuple[str, Pass], ...]] = ()


def optimize(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph after all passes that the target allows."""
    for name, run_pass in PIPELINE:
        if target.allows(name):
            graph = run_pass(graph, target)
    return graph
