"""Ops that move elements about: Transpose, Reverse, ReverseSequence, Roll."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import argument_aliases
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import shape as shape_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ----------------------------------------------------------------


def _transpose_shape(c: InferenceContext) -> TensorShape:
    shape, perm = c.input_shape(0), c.input_value(1)
    length = c.input_shape(1).num_elements()
    rank = length if shape.rank is None else shape.rank
    if rank is None:
        return UNKNOWN
    if shape.rank is None and rank < 2:
        # One axis stays where it is, and a scalar may come with a vector of one.
        return UNKNOWN
    dims = c.with_rank(0, rank).dims_tuple
    perm_dims = c.with_rank(1, 1).dims_tuple
    assert dims is not None
    assert perm_dims is not None
    c.with_value(perm_dims[0], rank)
    if perm is None:
        return TensorShape.of((None,) * rank)
    for axis in perm.tolist():
        if not -rank <= axis < rank:
            c.fail(f"perm dim {axis} is out of range of input rank {rank}")
    return TensorShape.of(tuple(dims[axis] for axis in perm.tolist()))


def _vector_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 1)


def _reverse_v2_shape(c: InferenceContext) -> TensorShape:
    shape = c.input_shape(0)
    c.with_rank(1, 1)
    axes = c.input_value(1)
    if axes is not None and shape.rank is not None:
        _check_axes(c, axes.tolist(), shape.rank)
    return shape


def _check_axes(c: InferenceContext, axes: list[int], rank: int) -> None:
    seen: set[int] = set()
    for i, axis in enumerate(axes):
        if not -rank <= axis < rank:
            c.fail(f"'axis'[{i}] = {axis} is out of valid range [0, {rank - 1}")
        if axis % rank in seen:
            c.fail(f"axis {axis % rank} specified more than once.")
        seen.add(axis % rank)


def _reverse_shape(c: InferenceContext) -> TensorShape:
    flags = c.with_rank(1, 1).dims_tuple
    assert flags is not None
    shape = c.input_shape(0)
    return shape if flags[0] is None else c.with_rank(0, flags[0])


def _reverse_sequence_shape(c: InferenceContext) -> TensorShape:
    lengths = c.with_rank(1, 1)
    shape = c.input_shape(0)
    dims = shape.dims_tuple
    if dims is None:
        return UNKNOWN
    batch, seq = c.attrs["batch_dim"], c.attrs["seq_dim"]
    if not -len(dims) <= batch < len(dims):
        c.fail(f"batch_dim must be < input rank: {batch} vs. {len(dims)}")
    if seq >= len(dims):
        c.fail(f"seq_dim must be < input rank: {seq} vs. {len(dims)}")
    assert lengths.dims_tuple is not None
    size = c.merge_dim(dims[batch], lengths.dims_tuple[0])
    return TensorShape.of((*dims[:batch], size, *dims[batch + 1 :]))


def _roll_shape(c: InferenceContext) -> TensorShape:
    c.with_rank_at_least(0, 1)
    c.merge(c.with_rank_at_most(1, 1), c.with_rank_at_most(2, 1))
    return c.input_shape(0)


# --- gradients ----------------------------------------------------------------------


def _transpose_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [transpose(grad, invert_permutation(op.inputs[1])), None]


def _conjugate_transpose_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    back = invert_permutation(op.inputs[1])
    return [transpose(grad, back, conjugate=True), None]


def _reverse_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [reverse(grad, op.inputs[1]), None]


def _reverse_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("Reverse", tensor=grad, dims=op.inputs[1]), None]


def _reverse_sequence_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    back = reverse_sequence(
        grad,
        seq_lengths=op.inputs[1],
        seq_axis=op.get_attr("seq_dim"),
        batch_axis=op.get_attr("batch_dim"),
    )
    return [back, None]


def _roll_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [roll(grad, -op.inputs[1], op.inputs[2]), None, None]


# --- definitions --------------------------------------------------------------------

_REVERSIBLE = (
    "T: {uint8, int8, uint16, int16, int32, int64, bool, bfloat16, half, float, "
    "double, complex64, complex128, string, uint32, uint64}"
)

register_op(
    "Transpose",
    inputs=["x: T", "perm: Tperm"],
    outputs=["y: T"],
    attrs=["T: type", "Tperm: {int32, int64} = DT_INT32"],
    shape_fn=_transpose_shape,
    gradient=_transpose_grad,
    doc="The input with its axes in another order: axis i is the input's perm[i].",
)

register_op(
    "ConjugateTranspose",
    inputs=["x: T", "perm: Tperm"],
    outputs=["y: T"],
    attrs=["T: type", "Tperm: {int32, int64} = DT_INT32"],
    shape_fn=_transpose_shape,
    gradient=_conjugate_transpose_grad,
    doc="The complex conjugate of the input with its axes in another order.",
)

register_op(
    "InvertPermutation",
    inputs=["x: T"],
    outputs=["y: T"],
    attrs=["T: {int32, int64} = DT_INT32"],
    shape_fn=_vector_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The permutation y with y[x[i]] = i.",
)

register_op(
    "ReverseV2",
    inputs=["tensor: T", "axis: Tidx"],
    outputs=["output: T"],
    attrs=["Tidx: {int32, int64} = DT_INT32", _REVERSIBLE],
    shape_fn=_reverse_v2_shape,
    gradient=_reverse_v2_grad,
    doc="The input in reverse order along the given axes.",
)

register_op(
    "Reverse",
    inputs=["tensor: T", "dims: bool"],
    outputs=["output: T"],
    attrs=[_REVERSIBLE],
    shape_fn=_reverse_shape,
    gradient=_reverse_grad,
    doc="The input in reverse order along the axes whose flag is set.",
)

register_op(
    "ReverseSequence",
    inputs=["input: T", "seq_lengths: Tlen"],
    outputs=["output: T"],
    attrs=[
        "seq_dim: int",
        "batch_dim: int = 0",
        "T: type",
        "Tlen: {int32, int64} = DT_INT64",
    ],
    shape_fn=_reverse_sequence_shape,
    gradient=_reverse_sequence_grad,
    doc="The first seq_lengths[i] entries of sequence i in reverse order.",
)

register_op(
    "Roll",
    inputs=["input: T", "shift: Tshift", "axis: Taxis"],
    outputs=["output: T"],
    attrs=["T: type", "Tshift: {int32, int64}", "Taxis: {int32, int64}"],
    shape_fn=_roll_shape,
    gradient=_roll_grad,
    doc="The input moved along axes; what leaves at one end enters at the other.",
)

# --- builders -----------------------------------------------------------------------


@export("transpose")
def transpose(
    a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """`a` with its axes in another order: axis i of the result is `perm[i]` of `a`.

    Args:
      perm: the order; reversed when None.
      conjugate: take the complex conjugate as well (of complex dtypes).
    """
    with name_scope(name, "transpose", [a]) as scope:
        op = "Transpose"
        if conjugate and a.dtype.is_complex:
            op = "ConjugateTranspose"
        if perm is not None:
            return apply_op(op, x=a, perm=perm, name=scope)  # type: ignore[no-any-return]
        a = convert_to_tensor(a, name="a")
        rank: Any = a.shape.rank
        if not rank:
            rank = apply_op("Rank", input=a)
            perm = (rank - 1) - apply_op("Range", start=0, limit=rank, delta=1)
        else:
            perm = (rank - 1) - np.arange(rank)
        result: Tensor = apply_op(op, x=a, perm=perm, name=scope)
        dims = a.shape.dims_tuple
        if dims is not None:
            result.set_shape(dims[::-1])
        return result


@export("linalg.matrix_transpose", "linalg.transpose", "matrix_transpose")
def matrix_transpose(
    a: Any, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """`a`, [..., rows, columns], with its last two axes exchanged.

    Raises:
      ValueError: the rank is below 2.
    """
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        rank = a.shape.rank
        perm: Any
        if rank is None:
            dynamic_rank = shape_ops.rank(a)
            leading = apply_op("Range", start=0, limit=dynamic_rank - 2, delta=1)
            perm = concat_ops.concat((leading, [dynamic_rank - 1, dynamic_rank - 2]), 0)
        elif rank < 2:
            raise ValueError(
                "Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: "
                f"{a.shape}"
            )
        else:
            perm = [*range(rank - 2), rank - 1, rank - 2]
        return transpose(a, perm=perm, conjugate=conjugate)


@export("invert_permutation", "math.invert_permutation")
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation `y` with `y[x[i]] = i`.

    Raises (at run time):
      errors.InvalidArgumentError: `x` is not a permutation.
    """
    return apply_op("InvertPermutation", x=x, name=name)  # type: ignore[no-any-return]


@export("reverse", "manip.reverse", "reverse_v2")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` in reverse order along the axes of the vector `axis`."""
    return apply_op("ReverseV2", tensor=tensor, axis=axis, name=name)  # type: ignore[no-any-return]


@export("reverse_sequence")
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Each sequence of a batch with its first `seq_lengths[i]` entries reversed.

    Args:
      seq_lengths: [batch].
      seq_axis, batch_axis: along which the sequences and the batch run.
    """
    seq_axis = argument_aliases.either("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = argument_aliases.either(
        "batch_axis", batch_axis, "batch_dim", batch_dim
    )
    return apply_op(  # type: ignore[no-any-return]
        "ReverseSequence",
        input=input,
        seq_lengths=seq_lengths,
        seq_dim=seq_axis,
        batch_dim=batch_axis,
        name=name,
    )


@export("roll", "manip.roll")
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` moved by `shift` along `axis`; what leaves comes in at the other end."""
    return apply_op("Roll", input=input, shift=shift, axis=axis, name=name)  # type: ignore[no-any-return]
