"""Cast, and the builders that change a dtype."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

_DIFFERENTIABLE = frozenset(
    [
        *(dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64),
        *(dtypes.complex64, dtypes.complex128),
    ]
)


def _cast_grad(op: Operation, grad: Tensor) -> Tensor | None:
    source = op.inputs[0].dtype.base_dtype
    if source in _DIFFERENTIABLE and grad.dtype.base_dtype in _DIFFERENTIABLE:
        return cast(grad, source)  # type: ignore[no-any-return]
    return None


register_op(
    "Cast",
    inputs=["x: SrcT"],
    outputs=["y: DstT"],
    attrs=["SrcT: type", "DstT: type", "Truncate: bool = false"],
    shape_fn=unchanged_shape,
    gradient=_cast_grad,
    doc="x as another dtype.",
)


@export("cast", "dtypes.cast")
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """x as another dtype; what has that dtype already is returned as it is.

    Args:
      x: a tensor, SparseTensor, IndexedSlices, or what converts to a tensor.

    Raises:
      TypeError: x has no conversion.
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and x.dtype is dtype:
        return x
    if _is_variable(x) and dtype == x.dtype:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, SparseTensor):
            values = cast(x.values, dtype, name=scope)
            return SparseTensor(x.indices, values, x.dense_shape)
        if isinstance(x, IndexedSlices):
            values = cast(x.values, dtype, name=scope)
            return IndexedSlices(values, x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype is not dtype:
            x = apply_op("Cast", scope, x=x, DstT=dtype)
        return x


def _is_variable(x: Any) -> bool:
    # A resource variable is returned as it is; a reference variable is read, and so is
    # one that stands for several.
    return getattr(x, "_in_graph_mode", None) is not None and not x._has_parts


@export("dtypes.saturate_cast", "saturate_cast")
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """A cast in which values beyond the range of `dtype` become its limits."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        own = value.dtype
        if own.min < dtype.min:
            limit = convert_to_tensor(dtype.min, dtype=own, name="min")
            value = apply_op("Maximum", x=value, y=limit)
        if own.max > dtype.max:
            limit = convert_to_tensor(dtype.max, dtype=own, name="max")
            value = apply_op("Minimum", x=value, y=limit)
        return cast(value, dtype, name=scope)  # type: ignore[no-any-return]


@export("to_float")
def to_float(x: Any, name: str | None = "ToFloat") -> Any:
    """x as float32."""
    return cast(x, dtypes.float32, name=name)


@export("to_double")
def to_double(x: Any, name: str | None = "ToDouble") -> Any:
    """x as float64."""
    return cast(x, dtypes.float64, name=name)


@export("to_int32")
def to_int32(x: Any, name: str | None = "ToInt32") -> Any:
    """x as int32."""
    return cast(x, dtypes.int32, name=name)


@export("to_int64")
def to_int64(x: Any, name: str | None = "ToInt64") -> Any:
    """x as int64."""
    return cast(x, dtypes.int64, name=name)


@export("to_bfloat16")
def to_bfloat16(x: Any, name: str | None = "ToBFloat16") -> Any:
    """x as bfloat16."""
    return cast(x, dtypes.bfloat16, name=name)


@export("to_complex64")
def to_complex64(x: Any, name: str | None = "ToComplex64") -> Any:
    """x as complex64."""
    return cast(x, dtypes.complex64, name=name)


@export("to_complex128")
def to_complex128(x: Any, name: str | None = "ToComplex128") -> Any:
    """x as complex128."""
    return cast(x, dtypes.complex128, name=name)
