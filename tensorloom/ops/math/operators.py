"""Python's operators on tensors: `x + 1`, `-x`, `a @ b`, `x < y`, `p & q`.

A binary operator makes its operation under its own name (`add`, `sub`, ...), and turns
a Python value on the other side into a constant under that name (`add/y`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.graph.graph import Tensor, get_default_graph, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math import binary, comparison, elementwise
from tensorloom.ops.math.cast import cast
from tensorloom.ops.sparse.dense import sparse_dense_op

_Builder = Callable[..., Any]


def _add(x: Any, y: Any, name: str | None = None) -> Tensor:
    op = "Add" if x.dtype == dtypes.string else "AddV2"
    return apply_op(op, name, x=x, y=y)  # type: ignore[no-any-return]


def _mul(x: Any, y: Any, name: str | None = None) -> Any:
    if isinstance(y, SparseTensor):
        values = sparse_dense_op("SparseDenseCwiseMul", y, x, name)
        return SparseTensor(y.indices, values, y.dense_shape)
    return binary.multiply(x, y, name=name)


def _single_op(x: Tensor, y: Any, op: str) -> bool:
    """True when the operator is one operation and nothing needs a scope.

    The name that the operation gets is the same with and without one.
    """
    return (
        op != ""
        and type(y) is Tensor
        and x._op._graph is y._op._graph is get_default_graph()
    )


def _override(function: _Builder, name: str, op: str = "") -> None:
    """Installs `__name__` and `__rname__`.

    Args:
      op: the op type where `function` makes just that for two tensors.
    """
    reverse_name = f"__r{name}__"

    def operator(x: Tensor, y: Any) -> Any:
        if _single_op(x, y, op):
            return apply_op(op, name, x=x, y=y)
        with name_scope(None, name, [x, y]) as scope:
            if not isinstance(y, Tensor | SparseTensor):
                try:
                    hint = x.dtype.base_dtype
                    y = convert_to_tensor(y, dtype_hint=hint, name="y")
                except TypeError:
                    # The other side may know how to do it.
                    if hasattr(type(y), reverse_name):
                        return NotImplemented
                    raise
            return function(x, y, name=scope)

    def reverse_operator(y: Tensor, x: Any) -> Any:
        with name_scope(None, name, [x, y]) as scope:
            x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    Tensor._override_operator(f"__{name}__", operator)
    Tensor._override_operator(reverse_name, reverse_operator)


_override(_add, "add")
_override(binary.subtract, "sub", "Sub")
_override(_mul, "mul", "Mul")
_override(binary.div, "div")
_override(binary.truediv, "truediv")
_override(binary.floordiv, "floordiv", "FloorDiv")
_override(binary.floormod, "mod", "FloorMod")
_override(binary.pow, "pow", "Pow")
_override(comparison.logical_and, "and", "LogicalAnd")
_override(comparison.logical_or, "or", "LogicalOr")
_override(comparison.logical_xor, "xor")
_override(matmul, "matmul")


Tensor._override_operator("__neg__", elementwise.negative)
Tensor._override_operator("__abs__", elementwise.abs)
Tensor._override_operator("__invert__", comparison.logical_not)
Tensor._override_operator("__lt__", comparison.less)
Tensor._override_operator("__le__", comparison.less_equal)
Tensor._override_operator("__gt__", comparison.greater)
Tensor._override_operator("__ge__", comparison.greater_equal)


# --- sparse on the left ------------------------------------------------------


def _sparse_true_division(
    sparse: SparseTensor, y: Tensor, name: str | None = None
) -> Tensor:
    with name_scope(name, "truediv", [*sparse.composite_parts(), y]) as scope:
        values = convert_to_tensor(sparse.values, name="sp_values")
        y = convert_to_tensor(y, name="y")
        wide = binary.true_division_dtype(binary.require_same_dtype(values, y))
        if wide is not None:
            values, y = cast(values, wide), cast(y, wide)
        sparse = SparseTensor(sparse.indices, values, sparse.dense_shape)
        return sparse_dense_op("SparseDenseCwiseDiv", sparse, y, scope)


def _override_sparse(function: _Builder, name: str) -> None:
    def operator(x: SparseTensor, y: Any) -> SparseTensor:
        with name_scope(None, name, [x, y]) as scope:
            y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
            return SparseTensor(x.indices, function(x, y, name=scope), x.dense_shape)

    SparseTensor._override_operator(f"__{name}__", operator)


def _sparse_builder(op: str) -> _Builder:
    def build(x: SparseTensor, y: Tensor, name: str | None = None) -> Tensor:
        return sparse_dense_op(op, x, y, name)

    return build


_override_sparse(_sparse_builder("SparseDenseCwiseDiv"), "div")
_override_sparse(_sparse_true_division, "truediv")
_override_sparse(_sparse_builder("SparseDenseCwiseMul"), "mul")
