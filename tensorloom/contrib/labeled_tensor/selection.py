"""Parts of labeled tensors, by labels, by masks or at random."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from tensorloom.contrib.labeled_tensor.axis import Axes, Axis
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    Slice,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.layout import slice_function, transpose
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.indexing import gather
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.random import random_ops


@export("contrib.labeled_tensor.select")
@checked
def select(
    labeled_tensor: LabeledTensorLike,
    selection: Mapping[str, Slice | Hashable | list[Any]],
    name: str | None = None,
) -> LabeledTensor:
    """A part of a tensor, by labels.

    Args:
      labeled_tensor: the whole.
      selection: for names of axes a label, which removes the axis, or a slice of
        labels, whose end is in it; or a list of labels for one axis alone.
      name: of the operations.

    Raises:
      ValueError: the tensor has no such axis, or the axis has no labels.
      KeyError: the axis has no such label.
      NotImplementedError: a list and anything else, or a slice with a step: TensorFlow
        has neither.
    """
    with name_scope(name, "lt_select", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        positions: dict[str, Any] = {}
        lists: dict[str, list[Any]] = {}
        for axis_name, value in selection.items():
            axis = _labelled_axis(labeled_tensor, axis_name)
            if isinstance(value, Slice):
                positions[axis_name] = _positions(axis, value)
            elif isinstance(value, list):
                lists[axis_name] = value
            else:
                positions[axis_name] = axis.index(value)
        if len(lists) > 1:
            raise NotImplementedError(
                "select does not yet support more than one list selection at the same "
                "time"
            )
        if lists and positions:
            raise NotImplementedError(
                "select does not yet support combined scalar and list selection"
            )
        for axis_name, labels in lists.items():
            return _take(labeled_tensor, axis_name, labels, scope)
        return slice_function(labeled_tensor, positions, name=scope)


def _labelled_axis(labeled_tensor: LabeledTensor, name: str) -> Axis:
    if name not in labeled_tensor.axes:
        raise ValueError(
            f"The tensor does not have an axis named {name}. Its axes are: "
            f"{list(labeled_tensor.axes)!r}"
        )
    axis = labeled_tensor.axes[name]
    if axis.labels is None:
        raise ValueError(
            f"The axis named {name} does not have labels. The axis is: {axis!r}"
        )
    return axis


def _positions(axis: Axis, labels: Slice) -> Slice:
    if labels.step is not None:
        raise NotImplementedError("slicing with a step is not yet supported")
    return Slice(
        None if labels.start is None else axis.index(labels.start),
        # The end of a slice of labels is in it, as in pandas.
        None if labels.stop is None else axis.index(labels.stop) + 1,
    )


def _take(
    labeled_tensor: LabeledTensor, axis_name: str, labels: list[Any], scope: str
) -> LabeledTensor:
    """The positions of some labels along one axis."""
    positions = [labeled_tensor.axes[axis_name].index(label) for label in labels]
    indices = convert_to_tensor(positions, dtype=dtypes.int64)
    with name_scope(scope, "lt_take", [labeled_tensor]) as scope:
        others = labeled_tensor.axes.remove(axis_name)
        axes = Axes([Axis(axis_name, labels), *others.values()])
        first = transpose(labeled_tensor, list(axes))
        taken = LabeledTensor(gather.gather(first.tensor, indices), axes)
        return transpose(taken, list(labeled_tensor.axes), name=scope)


@export("contrib.labeled_tensor.random_crop")
@checked
def random_crop(
    labeled_tensor: LabeledTensorLike,
    shape_map: Mapping[str, int],
    seed: int | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """A part of given size, at a random place. Axes that are cropped lose their labels.

    Args:
      labeled_tensor: the whole.
      shape_map: for names of axes the size.
      seed: of the place.
      name: of the operations.

    Raises:
      ValueError: the tensor has no such axis.
    """
    with name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        for axis_name in shape_map:
            if axis_name not in labeled_tensor.axes:
                raise ValueError(
                    f"Selection axis {axis_name} not in axes {labeled_tensor.axes}"
                )
        axes = [
            Axis(axis.name, shape_map[axis.name]) if axis.name in shape_map else axis
            for axis in labeled_tensor.axes.values()
        ]
        tensor = random_ops.random_crop(
            labeled_tensor.tensor, list(map(len, axes)), seed=seed, name=scope
        )
        return LabeledTensor(tensor, axes)


@export("contrib.labeled_tensor.boolean_mask")
@checked
def boolean_mask(
    labeled_tensor: LabeledTensorLike,
    mask: LabeledTensorLike,
    name: str | None = None,
) -> LabeledTensor:
    """What a mask of the first axis keeps. That axis loses its size and labels.

    Raises:
      NotImplementedError: the mask has more axes than one; TensorFlow has no such.
      ValueError: its axis is not the tensor's first.
    """
    with name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        mask = convert_to_labeled_tensor(mask)
        if len(mask.axes) > 1:
            raise NotImplementedError(
                "LabeledTensor's boolean_mask currently only supports 1D masks"
            )
        mask_axis = next(iter(mask.axes.values()))
        first, *others = labeled_tensor.axes.values()
        if mask_axis != first:
            raise ValueError(
                "the first axis of the labeled tensor and the mask are not equal:\n"
                f"{first!r}\n{mask_axis!r}"
            )
        tensor = selection_ops.boolean_mask(
            labeled_tensor.tensor, mask.tensor, name=scope
        )
        return LabeledTensor(tensor, [first.name, *others])


@export("contrib.labeled_tensor.where")
@checked
def where(
    condition: LabeledTensorLike,
    x: LabeledTensorLike,
    y: LabeledTensorLike,
    name: str | None = None,
) -> LabeledTensor:
    """Elements of `x` where the condition holds, else of `y`.

    Raises:
      ValueError: the three have not equal axes.
    """
    inputs = [condition, x, y]
    with name_scope(name, "lt_where", inputs) as scope:
        condition, x, y = map(convert_to_labeled_tensor, inputs)
        if not condition.axes == x.axes == y.axes:
            raise ValueError("all inputs to `where` must have equal axes")
        tensor = selection_ops.where(condition.tensor, x.tensor, y.tensor, name=scope)
        return LabeledTensor(tensor, x.axes)
