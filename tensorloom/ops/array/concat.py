"""Ops along an existing axis: ConcatV2, ConcatOffset, Split and SplitV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ----------------------------------------------------------------


def _concat_v2_shape(c: InferenceContext) -> TensorShape:
    return concat_shape(c, range(c.num_inputs - 1), c.num_inputs - 1)


def _concat_v1_shape(c: InferenceContext) -> TensorShape:
    return concat_shape(c, range(1, c.num_inputs), 0)


def concat_shape(c: InferenceContext, parts: range, axis_index: int) -> TensorShape:
    """The shape of a concatenation.

    Args:
      parts: which inputs are put together.
      axis_index: which input is the axis.
    """
    c.with_rank(axis_index, 0)
    value = c.input_value(axis_index)
    if value is None:
        return _concat_unknown_axis(c, parts)
    axis = int(value)
    least = axis + 1 if axis >= 0 else -axis
    before, size, after = _cut(c.with_rank_at_least(parts[-1], least), axis)
    for i in reversed(parts[:-1]):
        cut = _cut(c.with_rank_at_least(i, least), axis)
        before = c.merge(cut[0], before)
        size = None if size is None or cut[1] is None else size + cut[1]
        after = c.merge(cut[2], after)
    return before.concatenate(TensorShape.of((size,))).concatenate(after)


def _cut(shape: TensorShape, axis: int) -> tuple[TensorShape, int | None, TensorShape]:
    """A shape as what stands before an axis, that axis, and what stands after."""
    dims = shape.dims_tuple
    if dims is None:
        return UNKNOWN, None, SCALAR if axis == -1 else UNKNOWN
    axis %= len(dims)
    return TensorShape.of(dims[:axis]), dims[axis], TensorShape.of(dims[axis + 1 :])


def _concat_unknown_axis(c: InferenceContext, parts: range) -> TensorShape:
    """Only the rank is known, from any input whose rank is."""
    rank: int | None = None
    for i in parts:
        found = c.input_shape(i).rank
        if found is None:
            continue
        if rank is None:
            if found == 0:
                c.fail("Can't concatenate scalars (use tf.stack instead)")
            rank = found
        c.with_rank(i, rank)
    return UNKNOWN if rank is None else TensorShape.of((None,) * rank)


def _concat_offset_shape(c: InferenceContext) -> list[TensorShape]:
    # The kernel looks at ranks and sizes.
    return [c.input_shape(i) for i in range(1, c.num_inputs)]


def _split_axis(c: InferenceContext, axis_index: int, rank: int | None) -> int | None:
    """The axis, non-negative; None where it or the rank is not known."""
    c.with_rank(axis_index, 0)
    value = c.input_value(axis_index)
    if value is None or rank is None:
        return None
    axis = int(value)
    if not -rank <= axis < rank:
        c.fail(
            f"Dimension size, given by scalar input {axis} must be in range "
            f"[-{rank}, {rank})"
        )
    return axis % rank


def _split_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.input_shape(1).dims_tuple
    count = c.num_outputs
    axis = _split_axis(c, 0, None if dims is None else len(dims))
    if dims is None:
        return [UNKNOWN] * count
    if axis is None:
        return [TensorShape.of((None,) * len(dims))] * count
    size = dims[axis]
    if size is not None and size % count:
        c.fail(
            f"Dimension size must be evenly divisible by {count} but is {size}\n"
            "\tNumber of ways to split should evenly divide the split dimension"
        )
    part = None if size is None else size // count
    return [TensorShape.of((*dims[:axis], part, *dims[axis + 1 :]))] * count


def _split_v_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.input_shape(0).dims_tuple
    count = c.num_outputs
    axis = _split_axis(c, 2, None if dims is None else len(dims))
    if dims == ():
        c.fail("Can't split scalars")
    sizes = c.input_value(1)
    if axis is None:
        shape = UNKNOWN if dims is None else TensorShape.of((None,) * len(dims))
        return [shape] * count
    assert dims is not None
    parts = (
        [None] * count if sizes is None else _part_sizes(c, sizes.tolist(), dims[axis])
    )
    return [TensorShape.of((*dims[:axis], part, *dims[axis + 1 :])) for part in parts]


def _part_sizes(
    c: InferenceContext, sizes: list[int], whole: int | None
) -> list[int | None]:
    if len(sizes) != c.num_outputs:
        c.fail("Length of size_splits should be equal to num_outputs")
    if sizes.count(-1) > 1:
        c.fail("size_splits can only have one -1")
    known = sum(size for size in sizes if size != -1)
    if whole is None:
        return [None if size == -1 else size for size in sizes]
    if known > whole or (-1 not in sizes and known != whole):
        c.fail(
            "can't split axis of size "
            f"{whole} into pieces of size [{','.join(map(str, sizes))}]"
        )
    return [whole - known if size == -1 else size for size in sizes]


# --- gradients ----------------------------------------------------------------------


def _split_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    return [None, concat(list(grads), op.inputs[0])]


def _split_v_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    return [concat(list(grads), op.inputs[2]), None, None]


# --- definitions --------------------------------------------------------------------

register_op(
    "ConcatV2",
    inputs=["values: N * T", "axis: Tidx"],
    outputs=["output: T"],
    attrs=["N: int >= 2", "T: type", "Tidx: {int32, int64} = DT_INT32"],
    shape_fn=_concat_v2_shape,
    doc="Tensors joined along an axis.",
)

register_op(
    "Concat",
    inputs=["concat_dim: int32", "values: N * T"],
    outputs=["output: T"],
    attrs=["N: int >= 2", "T: type"],
    shape_fn=_concat_v1_shape,
    doc="Tensors joined along an axis; the older form with the axis first.",
)

register_op(
    "ConcatOffset",
    inputs=["concat_dim: int32", "shape: N * int32"],
    outputs=["offset: N * int32"],
    attrs=["N: int >= 2"],
    shape_fn=_concat_offset_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Where each of N tensors begins in their concatenation.",
)

register_op(
    "Split",
    inputs=["split_dim: int32", "value: T"],
    outputs=["output: num_split * T"],
    attrs=["num_split: int >= 1", "T: type"],
    shape_fn=_split_shape,
    gradient=_split_grad,
    doc="A tensor in parts of equal size along an axis.",
)

register_op(
    "SplitV",
    inputs=["value: T", "size_splits: Tlen", "split_dim: int32"],
    outputs=["output: num_split * T"],
    attrs=["num_split: int >= 1", "T: type", "Tlen: {int32, int64, int8} = DT_INT64"],
    shape_fn=_split_v_shape,
    gradient=_split_v_grad,
    doc="A tensor in parts of given sizes along an axis; one may be -1, the rest.",
)

# --- builders -----------------------------------------------------------------------


@export("concat")
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """`values` joined along `axis`, in which alone their shapes may differ.

    Raises:
      ValueError: the shapes do not fit, or the axis is out of range.
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            axis = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            axis.shape.assert_has_rank(0)
            return identity_ops.identity(values[0], name=name)
    return apply_op("ConcatV2", values=values, axis=axis, name=name)  # type: ignore[no-any-return]


@export("split")
def split(
    value: Any,
    num_or_size_splits: Any,
    axis: Any = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """`value` in parts along `axis`.

    Args:
      num_or_size_splits: the number of equal parts, or a vector of their sizes.
      num: the number of parts where the vector's length is not known.

    Raises:
      ValueError: the parts do not fit, or their number is not known.
    """
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, Dimension)):
        return apply_op(  # type: ignore[no-any-return]
            "Split",
            split_dim=axis,
            value=value,
            num_split=num_or_size_splits,
            name=name,
        )
    if sizes.shape.rank == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to "
            f"split. Argument provided: {num_or_size_splits}"
        )
    if num is None:
        dims = sizes.shape.dims_tuple
        num = dims[0] if dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return apply_op(  # type: ignore[no-any-return]
        "SplitV",
        value=value,
        size_splits=sizes,
        split_dim=axis,
        num_split=num,
        name=name,
    )


def concat_offset(concat_dim: Any, shape: Any, name: str | None = None) -> list[Tensor]:
    """Where each of several tensors begins in their concatenation.

    Args:
      shape: their shape vectors.
    """
    return apply_op("ConcatOffset", concat_dim=concat_dim, shape=shape, name=name)  # type: ignore[no-any-return]
