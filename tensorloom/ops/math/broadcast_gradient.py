"""Gradients through broadcasting: sums over the axes along which an input was repeated.

TensorFlow 1.15 does this in two ways, and node names tell which. The older gradients
compute the axes in the graph. The newer ones (`smart_reductions`) know them from static
shapes, leave out sums and reshapes that change nothing, and keep the answer for the
next time that the same two shapes meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tensorloom.framework.graph.graph import Tensor, get_default_graph
from tensorloom.framework.types.constant_value import evaluate
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@dataclass(frozen=True, slots=True)
class Unbroadcast:
    """How the gradient of an output becomes that of one input."""

    shape: Any  # of the input: a tuple, or a tensor
    axes: Any  # along which it was repeated: a tuple, or a tensor
    needed: bool = True  # False: the gradient has the input's shape already

    def __call__(self, grad: Tensor) -> Tensor:
        """`grad` summed to the shape of the input."""
        return array_ops.reshape(math_ops.reduce_sum(grad, self.axes), self.shape)

    def if_needed(self, grad: Tensor) -> Tensor:
        """The same, or `grad` itself where it has that shape."""
        return self(grad) if self.needed else grad


def reductions(x: Tensor, y: Tensor) -> tuple[Unbroadcast, Unbroadcast]:
    """How gradients reach x and y, told by operations of the graph."""
    shape_x = array_ops.shape(x)
    shape_y = array_ops.shape(y)
    axes_x, axes_y = array_ops.broadcast_gradient_args(shape_x, shape_y)
    return Unbroadcast(shape_x, axes_x), Unbroadcast(shape_y, axes_y)


def smart_reductions(
    x: Tensor, y: Tensor, grad: Any
) -> tuple[Unbroadcast, Unbroadcast]:
    """How gradients reach x and y, told by static shapes where they are known."""
    if not isinstance(grad, Tensor):
        return reductions(x, y)
    dims_x, dims_y = x.shape.dims_tuple, y.shape.dims_tuple
    if dims_x is None or None in dims_x or dims_y is None or None in dims_y:
        shape_x = array_ops.shape_internal(x, optimize=False)
        shape_y = array_ops.shape_internal(y, optimize=False)
        axes_x, axes_y = array_ops.broadcast_gradient_args(shape_x, shape_y)
        return Unbroadcast(shape_x, axes_x), Unbroadcast(shape_y, axes_y)
    known_x, known_y = _known_axes(dims_x, dims_y)
    dims = grad.shape.dims_tuple
    return (
        Unbroadcast(dims_x, known_x, dims_x != dims),
        Unbroadcast(dims_y, known_y, dims_y != dims),
    )


def _known_axes(dims_x: Any, dims_y: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    cache = get_default_graph()._broadcast_axes
    known = cache.get((dims_x, dims_y))
    if known is None:
        # The nodes stay in the graph, unused, as TensorFlow leaves them there.
        axes = array_ops.broadcast_gradient_args(dims_x, dims_y)
        known = cache[dims_x, dims_y] = (
            known_integers(axes[0]),
            known_integers(axes[1]),
        )
    return known


def known_integers(tensor: Tensor) -> tuple[int, ...]:
    """The elements of a vector that follows from static shapes alone."""
    value = evaluate(tensor)
    assert value is not None
    return tuple(int(axis) for axis in value)


def equal_static_shapes(x: Tensor, y: Tensor, grad: Any) -> bool:
    """True when all three have the same fully known shape: nothing was repeated."""
    dims = x.shape.dims_tuple
    return (
        isinstance(grad, Tensor)
        and dims is not None
        and dims == y.shape.dims_tuple == grad.shape.dims_tuple
        and None not in dims
    )
