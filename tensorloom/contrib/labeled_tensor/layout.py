"""Operations that leave the elements as they are: slices, orders, shapes of axes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from tensorloom.contrib.labeled_tensor.axis import Axes, Axis, AxisLike, as_axis
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    Slice,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.ordering import (
    AxisOrderError,
    check_axis_order,
    consistent_ordering,
    get_axis_order,
    valid_axis_order,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.ops.array import identity as identity_op
from tensorloom.ops.array import permute
from tensorloom.ops.array import reshape as reshape_op

_PREFIX = "contrib.labeled_tensor."


@export(_PREFIX + "identity")
@checked
def identity(
    labeled_tensor: LabeledTensorLike, name: str | None = None
) -> LabeledTensor:
    """The same elements and axes, as a new tensor."""
    with name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        tensor = identity_op.identity(labeled_tensor.tensor, name=scope)
        return LabeledTensor(tensor, labeled_tensor.axes)


@export(_PREFIX + "slice")
@checked
def slice_function(
    labeled_tensor: LabeledTensorLike,
    selection: Mapping[str, int | Slice],
    name: str | None = None,
) -> LabeledTensor:
    """A part of a tensor, by positions.

    Args:
      labeled_tensor: the whole.
      selection: for names of axes a position, which removes the axis, or a slice.
      name: of the operations.
    """
    with name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        keys = [selection.get(axis, Slice(None)) for axis in labeled_tensor.axes]
        part = labeled_tensor.tensor[tuple(keys)]
        axes: list[Any] = [
            axis.name if axis.labels is None else (axis.name, axis.labels[key])
            for axis, key in zip(labeled_tensor.axes.values(), keys, strict=True)
            if isinstance(key, Slice)
        ]
        return LabeledTensor(identity_op.identity(part, name=scope), axes)


@export(_PREFIX + "transpose")
@checked
def transpose(
    labeled_tensor: LabeledTensorLike,
    axis_order: Collection[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """The axes in another order.

    Args:
      labeled_tensor: the tensor.
      axis_order: the names of all axes; by default they are turned round.
      name: of the operations.

    Raises:
      ValueError: those are not the tensor's axes.
    """
    with name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        before = list(labeled_tensor.axes)
        order = before[::-1] if axis_order is None else list(axis_order)
        if sorted(order) != sorted(before):
            raise ValueError(
                "The new axis order must have the same names as the original axes, but "
                f"the new order is {order!r} while the original order is {before!r}"
            )
        tensor = permute.transpose(
            labeled_tensor.tensor, [before.index(axis) for axis in order], name=scope
        )
        return LabeledTensor(tensor, [labeled_tensor.axes[axis] for axis in order])


@export(_PREFIX + "impose_axis_order")
@checked
def impose_axis_order(
    labeled_tensor: LabeledTensorLike,
    axis_order: Collection[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Transposes the axes, if need be, into an order.

    Args:
      labeled_tensor: the tensor.
      axis_order: names of all its axes, and perhaps of others; by default that of the
        `axis_order_scope`.
      name: of the operations.

    Raises:
      AxisOrderError: there is no order.
      ValueError: an axis is not in it.
    """
    with name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        order = valid_axis_order(axis_order)
        relevant = [axis for axis in order if axis in labeled_tensor.axes]
        return transpose(labeled_tensor, relevant, name=scope)


@export(_PREFIX + "expand_dims")
@checked
def expand_dims(
    labeled_tensor: LabeledTensorLike,
    axes: Collection[str | tuple[str, Hashable]],
    name: str | None = None,
) -> LabeledTensor:
    """New axes of size 1 among the tensor's.

    Args:
      labeled_tensor: the tensor.
      axes: names of all axes of the result. A new one may be a pair with its label.
      name: of the operations.

    Raises:
      AxisOrderError: the tensor's axes are not all there, or in another order.
    """
    with name_scope(name, "lt_expand_dims", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = [axis if isinstance(axis, str) else axis[0] for axis in axes]
        check_axis_order(labeled_tensor, names)
        expanded: list[AxisLike] = []
        for axis in axes:
            if isinstance(axis, str):
                expanded.append(labeled_tensor.axes.get(axis, Axis(axis, 1)))
            else:
                expanded.append((axis[0], (axis[1],)))
        tensor = reshape_op.reshape(
            labeled_tensor.tensor, list(map(_size, expanded)), name=scope
        )
        return LabeledTensor(tensor, expanded)


def _size(axis: AxisLike) -> int:
    size = as_axis(axis).size
    return -1 if size is None else size


@export(_PREFIX + "align")
@checked
def align(
    labeled_tensor_0: LabeledTensorLike,
    labeled_tensor_1: LabeledTensorLike,
    name: str | None = None,
) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """Two tensors with axes of size 1 where they need them to be broadcast.

    Nothing is transposed. The axes are in the order of the `axis_order_scope`, if there
    is one, else in one that both tensors agree with.

    Returns:
      Both tensors, of one rank, and the axes of what is computed from them.

    Raises:
      ValueError: axes of one name are not equal.
      AxisOrderError: there is no such order.
    """
    inputs = [labeled_tensor_0, labeled_tensor_1]
    with name_scope(name, "lt_align", inputs) as scope:
        first, second = map(convert_to_labeled_tensor, inputs)
        for axis, found in first.axes.items():
            if second.axes.get(axis, found) != found:
                raise ValueError(
                    f"Mismatched {axis!r} axis on input tensors: {found!r} and "
                    f"{second.axes[axis]!r}"
                )
        order = _common_order(first, second)
        aligned = [
            expand_dims(tensor, order, name=f"{scope}{position}")
            for position, tensor in enumerate((first, second))
        ]
        axes = Axes([first.axes.get(axis) or second.axes[axis] for axis in order])
        return aligned[0], aligned[1], axes


def _common_order(first: LabeledTensor, second: LabeledTensor) -> list[str]:
    wanted = get_axis_order()
    if wanted is not None:
        check_axis_order(first, wanted)
        check_axis_order(second, wanted)
        return [axis for axis in wanted if axis in first.axes or axis in second.axes]
    order = consistent_ordering(list(first.axes), list(second.axes))
    if order is None:
        raise AxisOrderError(
            "No consistent axis order allows for aligning tensors with axis orders "
            f"{list(first.axes)!r} and {list(second.axes)!r} without copying data. Use "
            "transpose or impose_axis_order to reorder axes on one of more of the "
            "inputs."
        )
    return order


@export(_PREFIX + "reshape")
@checked
def reshape(
    labeled_tensor: LabeledTensorLike,
    existing_axes: Collection[str],
    new_axes: Collection[str | AxisLike],
    name: str | None = None,
) -> LabeledTensor:
    """Other axes in the place of some that follow one another.

    Args:
      labeled_tensor: the tensor.
      existing_axes: names of axes, one after the other.
      new_axes: what takes their place; a name alone, at most once, is of a size that
        is not known.
      name: of the operations.

    Raises:
      ValueError: an axis is not the tensor's, or two sizes are not known.
      AxisOrderError: the axes do not follow one another.
    """
    with name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        existing = list(existing_axes)
        if not set(existing) <= set(names):
            raise ValueError(
                f"existing_axes {existing!r} are not contained in the set of axis "
                f"names {names!r} on the input labeled tensor"
            )
        start, stop = names.index(existing[0]), names.index(existing[-1]) + 1
        if existing != names[start:stop]:
            raise AxisOrderError(
                f"existing_axes {existing!r} are not a slice of axis names {names!r} "
                "on the input labeled tensor. Use `transpose` or `impose_axis_order` "
                "to reorder axes on the input explicitly."
            )
        if sum(isinstance(axis, str) for axis in new_axes) > 1:
            raise ValueError(
                "at most one axis in new_axes can have unknown size. All other axes "
                f"must have an indicated integer size or labels: {new_axes!r}"
            )
        kept = list(labeled_tensor.axes.values())
        axes = [*kept[:start], *new_axes, *kept[stop:]]
        shape = [-1 if isinstance(axis, str) else _size(axis) for axis in axes]
        tensor = reshape_op.reshape(labeled_tensor.tensor, shape, name=scope)
        return LabeledTensor(tensor, axes)


@export(_PREFIX + "rename_axis")
@checked
def rename_axis(
    labeled_tensor: LabeledTensorLike,
    existing_name: str,
    new_name: str,
    name: str | None = None,
) -> LabeledTensor:
    """Another name for an axis. Raises ValueError where the tensor has no such axis."""
    with name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        if existing_name not in labeled_tensor.axes:
            raise ValueError(
                f"existing_name {existing_name!r} are not contained in the set of axis "
                f"names {list(labeled_tensor.axes)!r} on the input labeled tensor"
            )
        renamed = Axis(new_name, labeled_tensor.axes[existing_name].value)
        return reshape(labeled_tensor, [existing_name], [renamed], name=scope)


@export(_PREFIX + "squeeze")
@checked
def squeeze(
    labeled_tensor: LabeledTensorLike,
    axis_names: Collection[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Without axes of size 1.

    Args:
      labeled_tensor: the tensor.
      axis_names: which of them; by default all.
      name: of the operations.

    Raises:
      ValueError: an axis is not the tensor's, or not of size 1.
    """
    with name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        if axis_names is None:
            axis_names = [axis.name for axis in axes.values() if len(axis) == 1]
        for axis in axis_names:
            if axis not in axes:
                raise ValueError(f"axis {axis} is not in tensor axes {axes}")
            if len(axes[axis]) != 1:
                raise ValueError(
                    "cannot squeeze axis with size greater than 1: "
                    f"({axis}, {axes[axis]})"
                )
        squeezed = [at for at, axis in enumerate(axes) if axis in axis_names]
        if squeezed:
            tensor = reshape_op.squeeze(labeled_tensor.tensor, squeezed, name=scope)
        else:
            tensor = identity_op.identity(labeled_tensor.tensor, name=scope)
        kept = [axis for axis in axes.values() if axis.name not in axis_names]
        return LabeledTensor(tensor, kept)
