"""Reductions over axes, ArgMax and ArgMin, and the builders `tf.reduce_*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.math import binary as binary_ops
from tensorloom.ops.math import comparison as comparison_ops
from tensorloom.ops.math import elementwise as elementwise_ops
from tensorloom.ops.math import sequence as sequence_ops
from tensorloom.ops.math.cast import cast

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_NUMBERS: Final = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)

# --- definitions -------------------------------------------------------------


def reduction_shape(c: InferenceContext) -> TensorShape:
    """The shape of input 0 without the axes of input 1, or with them as 1."""
    dims, keep = c.input_shape(0).dims_tuple, c.attrs["keep_dims"]
    c.with_rank_at_most(1, 1)
    if dims is None:
        return UNKNOWN
    indices = c.input_value(1)
    if indices is None:
        return TensorShape.of((None,) * len(dims)) if keep else UNKNOWN
    axes = set()
    for axis in indices.reshape(-1).tolist():
        if not -len(dims) <= axis < len(dims):
            c.fail(
                f"Invalid reduction dimension {axis} for input with {len(dims)} "
                "dimensions."
            )
        axes.add(axis % len(dims))
    if keep:
        return TensorShape.of(tuple(1 if i in axes else d for i, d in enumerate(dims)))
    return TensorShape.of(tuple(d for i, d in enumerate(dims) if i not in axes))


def _register(op: str, doc: str, types: str = _NUMBERS, gradient: Any = None) -> None:
    boolean = types == "bool"
    register_op(
        op,
        inputs=[
            "input: bool" if boolean else "input: T",
            "reduction_indices: Tidx",
        ],
        outputs=["output: bool" if boolean else "output: T"],
        attrs=[
            "keep_dims: bool = false",
            *(() if boolean else (f"T: {{{types}}}",)),
            "Tidx: {int32, int64} = DT_INT32",
        ],
        shape_fn=reduction_shape,
        gradient=gradient,
        doc=doc,
    )


_register("Sum", "The sum of elements along axes.")
_register("Prod", "The product of elements along axes.")
_register("Mean", "The mean of elements along axes.")
_register("Max", "The largest element along axes.")
_register("Min", "The smallest element along axes.")
_register(
    "EuclideanNorm",
    "The root of the sum of squares along axes.",
    gradient=NOT_DIFFERENTIABLE,
)
_register("All", "Whether all elements along axes are true.", "bool")
_register("Any", "Whether any element along axes is true.", "bool")


def _arg_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    dims = c.input_shape(0).dims_tuple
    if dims is None:
        return UNKNOWN
    if len(dims) <= 1:  # whatever the axis is; the kernel looks at it
        return TensorShape.of(())
    value = c.input_value(1)
    if value is None:
        return TensorShape.of((None,) * (len(dims) - 1))
    axis, rank = int(value), len(dims)
    if not -rank <= axis < rank:
        c.fail(
            f"Dimension ({axis}) must be in the range [{-rank}, {rank}), where {rank} "
            "is the number of dimensions in the input."
        )
    axis %= rank
    return TensorShape.of(dims[:axis] + dims[axis + 1 :])


for _op, _word, _index_types, _output_types in (
    ("ArgMax", "largest", "int32, int64, int16", "int32, int64, int16, uint16"),
    ("ArgMin", "smallest", "int32, int64", "int32, int64"),
):
    register_op(
        _op,
        inputs=["input: T", "dimension: Tidx"],
        outputs=["output: output_type"],
        attrs=[
            f"T: {{{_NUMBERS}, bool}}",
            f"Tidx: {{{_index_types}}} = DT_INT32",
            f"output_type: {{{_output_types}}} = DT_INT64",
        ],
        shape_fn=_arg_shape,
        doc=f"Where along an axis the {_word} element is; the first of equal ones.",
    )


# --- reduction builders ------------------------------------------------------


class ReductionBuilder(Protocol):
    """The signature of `tf.reduce_*` of 1.x."""

    def __call__(
        self,
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor: ...


def _all_axes(x: Any, axis: Any) -> Any:
    """`axis`, or for None every axis: a constant where the rank is known."""
    if axis is not None:
        return axis
    # Only for tensors: TensorFlow makes a Range for variables, arrays and lists.
    rank = x.shape.rank if isinstance(x, Tensor) else None
    if isinstance(x, SparseTensor):
        sizes = x.dense_shape.shape.dims_tuple
        rank = sizes[0] if sizes else None
    if rank is None:
        return sequence_ops.range(0, shape_ops.rank(x))
    return constant(np.arange(rank), dtype=dtypes.int32)


def _scalar_if_all(keepdims: bool, axis: Any, output: Tensor) -> Tensor:
    """Tells the static shape where every axis of an unknown rank was reduced."""
    if axis is None and not keepdims and not output.shape.is_fully_defined():
        output.set_shape(())
    return output


def _reduce(op: str, x: Any, axis: Any, keepdims: Any, name: str | None) -> Tensor:
    keep = False if keepdims is None else keepdims
    indices = _all_axes(x, axis)
    output = apply_op(op, name, input=x, reduction_indices=indices, keep_dims=keep)
    return _scalar_if_all(keep, axis, output)


def _builder(op: str, name: str, doc: str) -> ReductionBuilder:
    def build(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = either("axis", axis, "reduction_indices", reduction_indices)
        keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
        return _reduce(op, input_tensor, axis, keepdims, name)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = (
        f"{doc}\n\n    Args:\n      axis: one axis or several, all of them when None.\n"
        "      keepdims: keep reduced axes with size 1.\n\n"
        "    Raises:\n      ValueError: an axis is out of range, or an argument is "
        "given under both its names.\n    "
    )
    return export(f"math.{name}", name)(build)


reduce_sum = _builder("Sum", "reduce_sum", "The sum of elements along axes.")
reduce_mean = _builder("Mean", "reduce_mean", "The mean of elements along axes.")
reduce_prod = _builder("Prod", "reduce_prod", "The product of elements along axes.")
reduce_max = _builder("Max", "reduce_max", "The largest element along axes.")
reduce_min = _builder("Min", "reduce_min", "The smallest element along axes.")
reduce_all = _builder("All", "reduce_all", "Whether all elements along axes are true.")
reduce_any = _builder("Any", "reduce_any", "Whether any element along axes is true.")


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The root of the sum of squares along axes."""
    return _reduce("EuclideanNorm", input_tensor, axis, keepdims, name)


@export("math.count_nonzero", "count_nonzero")
def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Tensor:
    """How many elements along axes are not zero (not empty, for strings)."""
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    x = either("input", input, "input_tensor", input_tensor)
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "count_nonzero", [x]):
        x = convert_to_tensor(x, name="input")
        zero = fill_ops.zeros([], dtype=x.dtype)
        nonzero = cast(comparison_ops.not_equal(x, zero), dtypes.int64)
        count = _reduce("Sum", nonzero, axis, keepdims, None)
        return cast(count, dtype)  # type: ignore[no-any-return]


@export("math.reduce_variance")
def reduce_variance(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean square distance from the mean, along axes."""
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        squares = elementwise_ops.square(input_tensor - means)
        return reduce_mean(squares, axis=axis, keepdims=keepdims)


@export("math.reduce_std")
def reduce_std(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation along axes."""
    with name_scope(name or "reduce_std"):
        variance = reduce_variance(input_tensor, axis=axis, keepdims=keepdims)
        return elementwise_ops.sqrt(variance)


@export("math.reduce_logsumexp", "reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) along axes, without overflow."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    x = convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]):
        largest = reduce_max(x, axis=axis, keepdims=True)
        shift = identity_ops.stop_gradient(
            selection_ops.where(
                elementwise_ops.is_finite(largest),
                largest,
                fill_ops.zeros_like(largest),
            )
        )
        total = reduce_sum(
            elementwise_ops.exp(binary_ops.subtract(x, shift)), axis, keep
        )
        result = elementwise_ops.log(total)
        if not keep:
            shift = reshape_ops.reshape(shift, shape_ops.shape(result))
        result = binary_ops.add(result, shift)
        return _scalar_if_all(keep, axis, result)


# --- positions ---------------------------------------------------------------


def _arg(op: str, input: Any, axis: Any, output_type: Any, name: str | None) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        op,
        name,
        input=input,
        dimension=0 if axis is None else axis,
        output_type=output_type,
    )


@export("math.argmax", "argmax")
def argmax(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Where along `axis` (0 when None) the largest element is, the first of equals."""
    axis = either("axis", axis, "dimension", dimension)
    return _arg("ArgMax", input, axis, output_type, name)


@export("math.argmin", "argmin")
def argmin(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Where along `axis` (0 when None) the smallest element is, the first of equals."""
    axis = either("axis", axis, "dimension", dimension)
    return _arg("ArgMin", input, axis, output_type, name)


@export("arg_max")
def arg_max(
    input: Any,
    dimension: Any,
    output_type: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Old spelling of `argmax`."""
    return _arg("ArgMax", input, dimension, output_type, name)


@export("arg_min")
def arg_min(
    input: Any,
    dimension: Any,
    output_type: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Old spelling of `argmin`."""
    return _arg("ArgMin", input, dimension, output_type, name)
