"""How many operations TensorFlow 1.15 makes for the gradient of a loop.

Its backward loop is a loop of classic nodes, too: a counter added to the forward loop
and one to the backward loop; a chain of nodes for each loop variable; an accumulator
for each tensor from outside; and stacks (gradient_reads.py). The operations of gradient
functions are counted as they are made. See framework/graph/classic_node_counts.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.types.indexed_slices import IndexedSlices

if TYPE_CHECKING:
    from tensorloom.client.gradients.gradient_reads import Reads
    from tensorloom.framework.graph.tensor import Tensor

# Of the forward loop: Const, Enter, Merge, Switch, 1, Add, NextIteration, Exit. Of the
# backward loop: Const, Enter, Merge, Enter of the 1, GreaterEqual, LoopCond, Switch,
# Sub, NextIteration, Exit.
_COUNTERS = 18

# Zeros and Enter, for a loop variable whose last value has no gradient.
UNUSED_EXIT = 2


def counter_nodes(outer: Reads | None) -> int:
    """Of the counters of both loops; in a loop, the iterations are on a stack.

    Args:
      outer: of the gradient that this one is built in, if any.
    """
    if outer is None or outer.loop is None:
        return _COUNTERS
    return _COUNTERS + outer.stack()


def loop_variable_nodes(start: Tensor, following: Any) -> int:
    """Of the gradient of a loop variable.

    Args:
      start: what the gradient is before the backward loop.
      following: what an iteration gives, or None.
    """
    nodes = 4  # Enter, Merge, Switch, Exit
    if following is not None:
        return nodes + 1  # NextIteration
    # Zeros for the further iterations: Const, or Shape, Const, Fill and Enter.
    zeros = 1 if start.shape.is_fully_defined() else 4
    return nodes + zeros + 1


def accumulator_nodes(gradient: Any, outer: Reads | None, is_variable: bool) -> int:
    """Of the sum, over the iterations, of the gradient of a tensor from outside.

    Args:
      is_variable: it is of a loop variable that never changes.
    """
    if is_variable:
        return UNUSED_EXIT + 5  # Merge, Switch, AddN, NextIteration, Exit
    if isinstance(gradient, IndexedSlices):
        return _rows_accumulator_nodes(gradient)
    if gradient.shape.is_fully_defined():
        zeros = 1
    else:  # Shape, Const, Fill; in a loop, the shape is on a stack
        zeros = 3
        if outer is not None and outer.loop is not None:
            zeros += outer.stack()
    return zeros + 6  # Enter, Merge, Switch, Add, NextIteration, Exit


def _rows_accumulator_nodes(gradient: IndexedSlices) -> int:
    # Enter, Merge, Switch, the axis, ConcatV2, NextIteration, Exit of values, indices.
    nodes = 2 * 7
    # Zeros for the values: Const, or Shape, StridedSlice with three constants, [1],
    # an axis, ConcatV2, Const and Fill. For the indices: Const.
    nodes += (1 if gradient.values.shape.is_fully_defined() else 10) + 1
    if gradient.dense_shape is not None:
        # Const, Enter, Merge, Switch, Maximum, NextIteration, Exit.
        nodes += 7
    return nodes
