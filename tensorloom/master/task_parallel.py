"""A step whose pieces run on several tasks at once."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from tensorloom.framework.interfaces import (
    RegisteredGraph,
    StepContext,
    StepOptions,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import GraphIR


class TaskParallelStep:
    """Runs the parts of a step side by side under one step id.

    The parts meet in the rendezvous of that step id. Implements `PreparedStep`.
    """

    def __init__(
        self, graphs: Sequence[RegisteredGraph], parts: Sequence[GraphIR]
    ) -> None:
        self._graphs = graphs
        self._args = [_indices(part, "_Arg") for part in parts]
        self._results = [_indices(part, "_Retval") for part in parts]
        self._threads = ThreadPoolExecutor(len(graphs))

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs all parts; the first error of one is the step's."""
        context = step or StepContext(StepOptions())
        context.step_id = secrets.randbits(56) or 1
        pending = [
            self._threads.submit(graph.run, [feeds[i] for i in indices], context)
            for graph, indices in zip(self._graphs, self._args, strict=True)
        ]
        # The others may wait for what a failed part would have sent.
        done, _ = wait(pending, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        values: dict[int, Any] = {}
        for future, indices in zip(pending, self._results, strict=True):
            values.update(zip(indices, future.result(), strict=True))
        return [values[i] for i in range(len(values))]


def _indices(part: GraphIR, op: str) -> list[int]:
    return sorted(n.attrs["index"] for n in part.nodes.values() if n.op == op)
