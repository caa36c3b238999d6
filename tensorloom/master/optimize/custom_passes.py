"""Passes that a program adds to the pipeline.

A pass never joins by being imported: a session runs it after the built-in ones when
its config names it, in `graph_options.rewrite_options.custom_optimizers`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.runtime import custom_stages
from tensorloom.master.optimize.target import OptimizeTarget

Pass = Callable[[GraphIR, OptimizeTarget], GraphIR]

_PASSES: dict[str, Pass] = {}


def graph_pass(name: str) -> Callable[[Pass], Pass]:
    """Names a function from a graph to a graph, so that a session may ask for it.

    The pass gets the pruned graph of one step, not placed yet, and the target, whose
    `preserve` names the nodes that must stay. It returns a new graph and never changes
    its argument.

    Raises:
      ValueError: another pass has that name.
    """

    def register(run_pass: Pass) -> Pass:
        if name in _PASSES:
            raise ValueError(f"graph pass '{name}' is registered already")
        _PASSES[name] = run_pass
        return run_pass

    return register


def remove_graph_pass(name: str) -> None:
    """Forgets a pass; steps that were prepared with it stay as they are."""
    _PASSES.pop(name, None)


def asked_for(names: Sequence[str]) -> Iterator[tuple[str, Pass]]:
    """The passes of those names, in that order.

    TensorFlow leaves out names that it does not know; here that gives a warning.
    """
    for name in names:
        run_pass = _PASSES.get(name)
        if run_pass is None:
            if custom_stages.is_stage(name):
                continue  # it is for later
            known = ", ".join(_PASSES) or "none"
            warnings.warn(
                f"custom_optimizers names the graph pass '{name}', which is not "
                f"registered (registered: {known}); it is left out",
                stacklevel=2,
            )
        else:
            yield name, run_pass
