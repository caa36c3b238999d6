"""Adds inputs and outputs to a finished `If` or `While`, as its gradient needs them.

The forward node gets further outputs (and a loop further inputs), and its functions
are replaced by ones that give them. Sessions that hold the node already learn of it
from the graph's list of mutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.operation import InputList, Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.scopes import uid

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph


def add_output(op: Operation, like: Tensor) -> Tensor:
    """Adds an output of the dtype and shape of a tensor of the body."""
    op.graph._changed(op)
    op.__dict__.setdefault("_own_outputs", len(op._outputs))
    output = Tensor(op, len(op._outputs), like._dtype.base_dtype)
    output._shape = like._shape
    output._handle_data = like._handle_data
    op._outputs.append(output)
    return output


def add_input(op: Operation, tensor: Tensor) -> None:
    """Adds a data input at the end."""
    op.graph._changed(op)
    op._inputs = InputList((*op._inputs, tensor))
    tensor._consumers.append(op)


def own_output_count(op: Operation) -> int:
    """How many outputs the op had before gradients added some."""
    count: int = op.__dict__.get("_own_outputs", len(op._outputs))
    return count


def replace_functions(
    op: Operation,
    graphs: Sequence[FuncGraph],
    attrs: dict[str, Any],
    keep_stateful: bool = False,
) -> list[str]:
    """Puts the graphs as they are now into the library; returns their new names.

    `attrs` are set on the op as well. `keep_stateful`: see `FuncGraph.to_function`.
    """
    names = []
    for graph in graphs:
        name = f"{graph.name.split('_rewritten_')[0]}_rewritten_{uid()}"
        graph.name = name
        op.graph.add_function(graph.to_function(keep_stateful=keep_stateful))
        names.append(name)
    op.graph._changed(op)
    # Nodes made of the operation before share its attrs, and keep them as they were.
    op._attrs = {**op._attrs, **attrs}
    return names
