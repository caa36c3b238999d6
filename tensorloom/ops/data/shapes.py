"""Shape functions that the ops of datasets share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def dataset_of_scalars(*inputs: int) -> Callable[[InferenceContext], TensorShape]:
    """A scalar variant; the inputs of these numbers must be scalars."""

    def shape_fn(c: InferenceContext) -> TensorShape:
        for index in inputs:
            c.with_rank(index, 0)
        return SCALAR

    return shape_fn


def output_shapes_attr(c: InferenceContext) -> Sequence[TensorShape]:
    """The shapes of the attr output_shapes, one for each component.

    Raises:
      ValueError: there are as many shapes as types, or not.
    """
    shapes: Sequence[TensorShape] = c.attrs["output_shapes"]
    if len(shapes) != len(c.attrs["output_types"]):
        c.fail("`output_shapes` must be the same length as `output_types`")
    return shapes
