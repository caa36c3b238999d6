"""Reductions over axes, and the matrix product, which sums over the shared one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.layout import squeeze
from tensorloom.contrib.labeled_tensor.ordering import get_axis_order
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export, export_value
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.ops.array import identity, reshape
from tensorloom.ops.linalg import matmul as matmul_op
from tensorloom.ops.reductions import reductions

if TYPE_CHECKING:
    from tensorloom.contrib.labeled_tensor.axis import Axis
    from tensorloom.framework.graph.tensor import Tensor

# The name of an axis that goes, or a pair of one that stays, and its label or None.
ReduceAxis = str | tuple[str, Hashable]
ReduceAxes = ReduceAxis | Collection[ReduceAxis] | None


@export("contrib.labeled_tensor.define_reduce_op")
@checked
def define_reduce_op(
    op_name: str, reduce_fn: Callable[..., Any]
) -> Callable[..., LabeledTensor]:
    """A reduction of labeled tensors from one of tensors.

    Args:
      op_name: its name; operations are named `lt_` and this.
      reduce_fn: of a tensor, a list of dimensions, and `keepdims`.
    """

    @checked
    def op(
        labeled_tensor: LabeledTensorLike,
        axes: ReduceAxes = None,
        name: str | None = None,
    ) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            given = labeled_tensor.axes
            reduced = _reduced_axes(list(given) if axes is None else axes)
            for axis in reduced:
                if axis not in given:
                    raise ValueError(f"Axis {axis} not in axes {given}")
            tensor = reduce_fn(
                labeled_tensor.tensor,
                [at for at, axis in enumerate(given) if axis in reduced],
                keepdims=True,
            )
            kept = LabeledTensor(
                tensor, [reduced.get(axis, given[axis]) for axis in given]
            )
            removed = [name for name, axis in reduced.items() if isinstance(axis, str)]
            return squeeze(kept, removed, name=scope)

    op.__name__ = op_name
    op.__doc__ = f"""`tf.{op_name}` over axes of a labeled tensor.

    Args:
      labeled_tensor: the tensor.
      axes: which; by default all. A name removes the axis, a pair of a name and a label
        or None keeps it, with size 1.
      name: of the operations.

    Raises:
      ValueError: the tensor has no such axis.
    """
    return op


def _reduced_axes(axes: Any) -> dict[str, Any]:
    """By name what becomes of the axes: the name alone where they go."""
    reduced: dict[str, Any] = {}
    for axis in [axes] if isinstance(axes, (str, tuple)) else axes:
        if isinstance(axis, str):
            reduced[axis] = axis
        else:
            name, label = axis
            reduced[name] = (name, None if label is None else [label])
    return reduced


_REDUCTIONS: Final = {
    "reduce_all": reductions.reduce_all,
    "reduce_any": reductions.reduce_any,
    "reduce_logsumexp": reductions.reduce_logsumexp,
    "reduce_max": reductions.reduce_max,
    "reduce_mean": reductions.reduce_mean,
    "reduce_min": reductions.reduce_min,
    "reduce_prod": reductions.reduce_prod,
    "reduce_sum": reductions.reduce_sum,
}
for _name, _function in _REDUCTIONS.items():
    export_value(define_reduce_op(_name, _function), f"contrib.labeled_tensor.{_name}")


@export("contrib.labeled_tensor.matmul")
@checked
def matmul(
    a: LabeledTensorLike, b: LabeledTensorLike, name: str | None = None
) -> LabeledTensor:
    """The product of vectors or matrices, summed over the axis that they share.

    The other axes are in the order of the inputs, or of the `axis_order_scope`. Inputs
    are transposed as need be.

    Raises:
      NotImplementedError: a rank above 2, or several shared axes: TensorFlow has none.
      ValueError: a scalar, no shared axis, or one of different sizes.
    """
    with name_scope(name, "lt_matmul", [a, b]) as scope:
        a, b = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        shared = _shared_axis(a, b)
        axes = [axis for axis in _all_axes(a, b) if axis.name != shared]
        order = get_axis_order()
        names = [axis.name for axis in axes]
        if order is not None and [axis for axis in order if axis in names] != names:
            a, b, axes = b, a, axes[::-1]
        left, transpose_a = _matrix(a, shared, 0, (1, -1))
        right, transpose_b = _matrix(b, shared, 1, (-1, 1))
        product = matmul_op.matmul(
            left, right, transpose_a=transpose_a, transpose_b=transpose_b
        )
        vectors = [at for at, input in enumerate((a, b)) if len(input.axes) == 1]
        if vectors:
            product = reshape.squeeze(product, vectors)
        return LabeledTensor(identity.identity(product, name=scope), axes)


def _all_axes(a: LabeledTensor, b: LabeledTensor) -> list[Axis]:
    return [*a.axes.values(), *b.axes.values()]


def _matrix(
    input: LabeledTensor, shared: str, summed: int, shape: tuple[int, int]
) -> tuple[Tensor, bool]:
    """The input as a matrix, and whether it is to be transposed for the sum."""
    if len(input.axes) == 1:
        return reshape.reshape(input.tensor, shape), False
    return input.tensor, list(input.axes).index(shared) == summed


def _shared_axis(a: LabeledTensor, b: LabeledTensor) -> str:
    ranks = f"inputs have ranks {len(a.axes)!r} and {len(b.axes)!r}"
    if len(a.axes) > 2 or len(b.axes) > 2:
        raise NotImplementedError(
            f"matmul currently requires inputs with rank 2 or less, but {ranks}"
        )
    if not a.axes or not b.axes:
        raise ValueError(
            f"matmul currently requires inputs with at least rank 1, but {ranks}"
        )
    shared = set(a.axes) & set(b.axes)
    if len(shared) > 1:
        raise NotImplementedError(
            "matmul does not yet support summing over multiple shared axes: "
            f"{shared!r}. Use transpose and reshape to create a single shared axis to "
            "sum over."
        )
    for name in shared:
        if a.axes[name] != b.axes[name]:
            raise ValueError(
                f"axis {name!r} does not match on input arguments: "
                f"{a.axes[name].value!r} vs {b.axes[name].value!r}"
            )
        return name
    raise ValueError(
        "there must have exactly one axis in common between input to matmul: "
        f"{list(a.axes)!r}, {list(b.axes)!r}"
    )
