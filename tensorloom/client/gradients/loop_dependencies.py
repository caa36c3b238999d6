"""Which variables of a loop the gradient of some of its results needs.

`while_loop` returns all its variables, and often the ys depend on a few of them. The
others must stay without a gradient: zeros in their place would be walked through the
body for nothing, would make NaN where the body divides by zero or takes a logarithm
of it, and would read places of TensorArrays that nobody has written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.functions.functional_op_types import BRANCHES, LOOPS

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def variables_needed_for(body: FuncGraph, results: Iterable[int]) -> set[int]:
    """The loop variables that `results` depend on, after any number of iterations.

    The results themselves are among them: there may be no iteration at all.
    """
    behind: set[int] = set()
    new = set(results)
    walk = _BackwardWalk(body.inputs)
    while new:
        behind |= new
        new = walk.inputs_needed_for([body.outputs[i] for i in new]) - behind
    return behind


def unchanged_variables(body: FuncGraph, results: Iterable[int]) -> set[int]:
    """Those of `variables_needed_for` that no iteration changes."""
    given = set(results)
    return {
        i
        for i in variables_needed_for(body, given) - given
        if i < len(body.inputs) and _is_handed_on(body.inputs[i], body.outputs[i])
    }


def _is_handed_on(argument: Tensor, result: Tensor) -> bool:
    while result is not argument and result.op.type == "Identity":
        result = result.op._inputs[0]
    return result is argument


class _BackwardWalk:
    """Finds arguments of a function body. Remembers what it has been through."""

    def __init__(self, arguments: Sequence[Tensor]) -> None:
        self._index = {t: i for i, t in enumerate(arguments)}
        self._seen: set[Tensor] = set()

    def inputs_needed_for(self, tensors: Sequence[Tensor]) -> set[int]:
        """Arguments behind the tensors that were not found before."""
        found: set[int] = set()
        stack = list(tensors)
        while stack:
            tensor = stack.pop()
            if tensor in self._seen:
                continue
            self._seen.add(tensor)
            argument = self._index.get(tensor)
            if argument is not None:
                found.add(argument)
            else:
                stack.extend(_inputs_needed_for(tensor))
        return found


def _inputs_needed_for(tensor: Tensor) -> Sequence[Tensor]:
    """The inputs of the tensor's op that it depends on."""
    op = tensor.op
    if op.type in LOOPS:
        return _of_loop(op, tensor.value_index)
    if op.type in BRANCHES:
        return _of_branches(op, tensor.value_index)
    return op._inputs


def _of_loop(op: Operation, index: int) -> Sequence[Tensor]:
    graphs = op.__dict__.get("_loop_graphs")
    if graphs is None:  # imported, and never differentiated
        return op._inputs
    return [op._inputs[i] for i in variables_needed_for(graphs[1], [index])]


def _of_branches(op: Operation, index: int) -> Sequence[Tensor]:
    branches = op.__dict__.get("_branch_graphs")
    if branches is None:
        return op._inputs
    behind: set[int] = set()
    for branch in branches:
        walk = _BackwardWalk(branch.inputs)
        behind |= walk.inputs_needed_for([branch.outputs[index]])
    # Input 0 is the predicate.
    return [op._inputs[1 + i] for i in behind]
