"""How the tasks of a step number the frames of loops in rendezvous keys.

TensorFlow 1.15 and 2 do it in different ways and cannot be told otherwise; tensorloom's
workers do as the master says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.partition import control_loops
from tensorloom.framework.runtime.frame_id import FrameNumbering, child_of_path
from tensorloom.master.optimize.node_facts import CONTROL_FLOW

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.interfaces import WorkerInterface


def common_numbering(
    graph: GraphIR, workers: Sequence[WorkerInterface]
) -> FrameNumbering | None:
    """The numbering for the parts of a graph; None if no tensor can come dead.

    Raises:
      errors.InvalidArgumentError: a loop would have parts on workers of TensorFlow 1.15
        and of TensorFlow 2.
    """
    if len(workers) == 1 or not any(
        node.op in CONTROL_FLOW for node in graph.nodes.values()
    ):
        return None
    fixed = {w.task: w.numbering for w in workers if w.numbering is not None}
    if len(set(fixed.values())) > 1 and control_loops.has_frames(graph):
        tasks = ", ".join(
            f"{task} ({'1.15' if number is child_of_path else '2'})"
            for task, number in fixed.items()
        )
        raise errors.InvalidArgumentError(
            None,
            None,
            "A loop with parts on several tasks cannot span workers of TensorFlow 1.15 "
            "and of TensorFlow 2, which name its tensors differently; its tasks are: "
            f"{tasks}",
        )
    return next(iter(fixed.values()), child_of_path)
