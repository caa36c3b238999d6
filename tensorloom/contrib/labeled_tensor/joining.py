"""Labeled tensors from several, several from one, and one made larger."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tensorloom.contrib.labeled_tensor.axis import (
    Axis,
    AxisLike,
    AxisValue,
    concat_axes,
)
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.ops.array import concat as concat_op
from tensorloom.ops.array import pad as pad_op
from tensorloom.ops.array import stack

_PREFIX = "contrib.labeled_tensor."


@export(_PREFIX + "concat")
@checked
def concat(
    labeled_tensors: Collection[LabeledTensorLike],
    axis_name: str,
    name: str | None = None,
) -> LabeledTensor:
    """Tensors one after the other along an axis, whose labels are put together too.

    Raises:
      ValueError: there is no tensor, the first has no such axis, or the other axes
        differ.
    """
    with name_scope(name, "lt_concat", list(labeled_tensors)) as scope:
        tensors = list(map(convert_to_labeled_tensor, labeled_tensors))
        if not tensors:
            raise ValueError(
                f"concat expects at least 1 tensor, but received {tensors}"
            )
        axes = tensors[0].axes
        position = _position(axis_name, list(axes))
        shared = axes.remove(axis_name)
        for tensor in tensors[1:]:
            if tensor.axes.remove(axis_name) != shared:
                raise ValueError(
                    f"Mismatched shared axes: the first tensor had axes {shared!r} but "
                    f"this tensor has axes {tensor.axes.remove(axis_name)!r}."
                )
        joined = concat_axes([tensor.axes[axis_name] for tensor in tensors])
        result = concat_op.concat(
            [tensor.tensor for tensor in tensors], position, name=scope
        )
        return LabeledTensor(
            result,
            [joined if axis.name == axis_name else axis for axis in axes.values()],
        )


def _position(axis_name: str, names: list[str]) -> int:
    if axis_name not in names:
        raise ValueError(f"{axis_name} not in {names}")
    return names.index(axis_name)


@export(_PREFIX + "pack")
@checked
def pack(
    labeled_tensors: Collection[LabeledTensorLike],
    new_axis: str | AxisLike,
    axis_position: int = 0,
    name: str | None = None,
) -> LabeledTensor:
    """Tensors of equal axes along a new one.

    Args:
      labeled_tensors: the tensors.
      new_axis: its name, or name and labels.
      axis_position: where the new axis stands.
      name: of the operations.

    Raises:
      ValueError: there is no tensor, or the axes differ.
    """
    with name_scope(name, "lt_pack", list(labeled_tensors)) as scope:
        tensors = list(map(convert_to_labeled_tensor, labeled_tensors))
        if not tensors:
            raise ValueError(f"pack expects at least 1 tensors, but received {tensors}")
        axes = tensors[0].axes
        for tensor in tensors:
            if tensor.axes != axes:
                raise ValueError(
                    f"Non-identical axes. Expected {axes} but got {tensor.axes}"
                )
        result = stack.stack(
            [tensor.tensor for tensor in tensors], axis=axis_position, name=scope
        )
        new_axes: list[str | AxisLike] = list(axes.values())
        new_axes.insert(axis_position, new_axis)
        return LabeledTensor(result, new_axes)


@export(_PREFIX + "unpack")
@checked
def unpack(
    labeled_tensor: LabeledTensorLike,
    axis_name: str | None = None,
    name: str | None = None,
) -> list[LabeledTensor]:
    """The tensors along an axis, by default the first.

    Raises:
      ValueError: there is no such axis.
    """
    with name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        axis_name = names[0] if axis_name is None else axis_name
        position = _position(axis_name, names)
        tensors = stack.unstack(labeled_tensor.tensor, axis=position, name=scope)
        axes = labeled_tensor.axes.remove(axis_name)
        return [LabeledTensor(tensor, axes) for tensor in tensors]


@export(_PREFIX + "tile")
@checked
def tile(
    labeled_tensor: LabeledTensorLike,
    multiples: Mapping[str, int | Tensor],
    name: str | None = None,
) -> LabeledTensor:
    """A tensor repeated along axes.

    Args:
      labeled_tensor: the tensor.
      multiples: for names of axes without labels, how often.
      name: of the operations.

    Raises:
      ValueError: there is no such axis, or it has labels: they would stand there twice.
    """
    with name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        _check_names("tile", multiples, labeled_tensor)
        labelled = [axis for axis in multiples if axes[axis].labels is not None]
        if labelled:
            raise ValueError(f"cannot tile axes with tick labels: {labelled!r}")
        tensor = pad_op.tile(
            labeled_tensor.tensor, [multiples.get(axis, 1) for axis in axes], name=scope
        )
        return LabeledTensor(
            tensor,
            [axis.name if axis.labels is None else axis for axis in axes.values()],
        )


@export(_PREFIX + "pad")
@checked
def pad(
    labeled_tensor: LabeledTensorLike,
    paddings: Mapping[str, tuple[AxisValue, AxisValue]],
    mode: str = "CONSTANT",
    name: str | None = None,
) -> LabeledTensor:
    """A tensor with more before and after it along axes.

    Args:
      labeled_tensor: the tensor.
      paddings: for names of axes what is put before and after: sizes or labels.
      mode: CONSTANT, REFLECT or SYMMETRIC.
      name: of the operations.

    Raises:
      ValueError: there is no such axis.
    """
    with name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        _check_names("pad", paddings, labeled_tensor)
        axes = []
        sizes = []
        for axis_name, axis in labeled_tensor.axes.items():
            if axis_name not in paddings:
                axes.append(axis)
                sizes.append((0, 0))
                continue
            before, after = (Axis(axis_name, value) for value in paddings[axis_name])
            axes.append(concat_axes([before, axis, after]))
            sizes.append((len(before), len(after)))
        tensor = pad_op.pad(labeled_tensor.tensor, sizes, mode, name=scope)
        return LabeledTensor(tensor, axes)


def _check_names(
    what: str, given: Mapping[str, object], labeled_tensor: LabeledTensor
) -> None:
    if not set(given) <= set(labeled_tensor.axes):
        raise ValueError(
            f"{what} axes {list(given)!r} are not contained in the set of axis names "
            f"{labeled_tensor.axes!r} on the input labeled tensor"
        )
