"""Functions of labeled tensors, applied to each along the first axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import fold
from tensorloom.client.control_flow import map_fn as map_fn_op
from tensorloom.contrib.labeled_tensor.joining import pack, unpack
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.layout import identity
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


@export("contrib.labeled_tensor.map_fn")
@checked
def map_fn(
    fn: Callable[..., Any],
    labeled_tensor: LabeledTensorLike,
    name: str | None = None,
) -> LabeledTensor:
    """Applies a function to each labeled tensor along the first axis.

    Args:
      fn: from a labeled tensor to one. Its axes are those of the first result.
      labeled_tensor: the inputs.
      name: of the operations.
    """
    with name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        inputs = unpack(labeled_tensor)
        first_axis, *axes = labeled_tensor.axes.values()
        if labeled_tensor.dtype == dtypes.string:
            return pack(list(map(fn, inputs)), first_axis, name=scope)
        first = fn(inputs[0])

        def apply(tensor: Tensor) -> Tensor:
            result: Tensor = fn(LabeledTensor(tensor, axes)).tensor
            return result

        mapped = map_fn_op.map_fn(apply, labeled_tensor.tensor, dtype=first.dtype)
        labeled = LabeledTensor(mapped, [first_axis, *first.axes.values()])
        return identity(labeled, name=scope)


@export("contrib.labeled_tensor.foldl")
@checked
def foldl(
    fn: Callable[..., Any],
    labeled_tensor: LabeledTensorLike,
    initial_value: LabeledTensorLike,
    name: str | None = None,
) -> LabeledTensor:
    """Folds the labeled tensors along the first axis, from the left.

    Args:
      fn: of what is accumulated and the next input; it returns what is accumulated.
      labeled_tensor: the inputs.
      initial_value: what is accumulated at first.
      name: of the operations.
    """
    with name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        initial_value = convert_to_labeled_tensor(initial_value)
        axes, element_axes = initial_value.axes, list(labeled_tensor.axes.values())[1:]

        def apply(accumulated: Tensor, element: Tensor) -> Tensor:
            result: Tensor = fn(
                LabeledTensor(accumulated, axes), LabeledTensor(element, element_axes)
            ).tensor
            return result

        folded = fold.foldl(
            apply, labeled_tensor.tensor, initializer=initial_value.tensor
        )
        return identity(LabeledTensor(folded, axes), name=scope)
