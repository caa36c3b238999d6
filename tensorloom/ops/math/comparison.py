"""Comparisons, logic, and what chooses: Select, ClipByValue, Bucketize."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_binary_shape,
    broadcast_shapes,
    unchanged_shape,
)
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.math.binary import BinaryBuilder, binary_builder

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

_ORDERED: Final = (
    "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
    "uint64"
)
_EQUATABLE: Final = (
    "bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
    "quint8, qint8, qint32, string, bool, complex128, uint16, uint32, uint64"
)
_NUMBERS: Final = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)


# --- comparison --------------------------------------------------------------


def _order(op: str, doc: str, name: str) -> BinaryBuilder:
    register_op(
        op,
        inputs=["x: T", "y: T"],
        outputs=["z: bool"],
        attrs=[f"T: {{{_ORDERED}}}"],
        shape_fn=broadcast_binary_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc=doc,
    )
    return binary_builder(op, f"math.{name}", name, doc=doc)


less = _order("Less", "x < y, elementwise.", "less")
less_equal = _order("LessEqual", "x <= y, elementwise.", "less_equal")
greater = _order("Greater", "x > y, elementwise.", "greater")
greater_equal = _order("GreaterEqual", "x >= y, elementwise.", "greater_equal")


def _equality_shape(c: InferenceContext) -> TensorShape:
    if c.attrs["incompatible_shape_error"]:
        return broadcast_binary_shape(c)
    # Shapes that do not fit make a scalar then: the rank is sure only where each
    # unknown size stands beside a 1.
    dims_x, dims_y = c.input_shape(0).dims_tuple, c.input_shape(1).dims_tuple
    if dims_x is None or dims_y is None:
        return UNKNOWN
    pairs = zip_longest(reversed(dims_x), reversed(dims_y), fillvalue=1)
    if any(None in pair and 1 not in pair for pair in pairs):
        return UNKNOWN
    try:
        return broadcast_binary_shape(c)
    except ValueError:
        return TensorShape.of(())


def _equality(op: str, doc: str, name: str) -> BinaryBuilder:
    register_op(
        op,
        inputs=["x: T", "y: T"],
        outputs=["z: bool"],
        attrs=[f"T: {{{_EQUATABLE}}}", "incompatible_shape_error: bool = true"],
        shape_fn=_equality_shape,
        gradient=NOT_DIFFERENTIABLE,
        commutative=True,
        doc=doc,
    )
    return binary_builder(op, f"math.{name}", name, doc=doc)


equal = _equality("Equal", "x == y, elementwise.", "equal")
not_equal = _equality("NotEqual", "x != y, elementwise.", "not_equal")


def _merged_shape(c: InferenceContext) -> TensorShape:
    c.merge(c.input_shape(0), c.input_shape(1))
    return c.input_shape(0)


register_op(
    "ApproximateEqual",
    inputs=["x: T", "y: T"],
    outputs=["z: bool"],
    attrs=[f"T: {{{_NUMBERS}}}", "tolerance: float = 1e-05"],
    shape_fn=_merged_shape,
    gradient=NOT_DIFFERENTIABLE,
    commutative=True,
    doc="|x - y| < tolerance, elementwise.",
)

# --- logic -------------------------------------------------------------------


def _logic(op: str, doc: str, name: str) -> BinaryBuilder:
    register_op(
        op,
        inputs=["x: bool", "y: bool"],
        outputs=["z: bool"],
        shape_fn=broadcast_binary_shape,
        gradient=NOT_DIFFERENTIABLE,
        commutative=True,
        doc=doc,
    )
    return binary_builder(op, f"math.{name}", name, doc=doc)


logical_and = _logic("LogicalAnd", "x and y, elementwise.", "logical_and")
logical_or = _logic("LogicalOr", "x or y, elementwise.", "logical_or")

register_op(
    "LogicalNot",
    inputs=["x: bool"],
    outputs=["y: bool"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="not x, elementwise.",
)


@export("math.logical_not", "logical_not")
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """not x, elementwise."""
    return apply_op("LogicalNot", name, x=x)  # type: ignore[no-any-return]


@export("math.logical_xor", "logical_xor")
def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Where exactly one of x and y is true."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


# --- choice ------------------------------------------------------------------


def _select_shape(c: InferenceContext) -> TensorShape:
    values = c.merge(c.input_shape(1), c.input_shape(2))
    cond = c.input_shape(0)
    dims, cond_dims = values.dims_tuple, cond.dims_tuple
    if cond_dims is None or dims is None or cond_dims == ():
        return values
    if len(cond_dims) == 1 and dims:
        # One condition for each row; TensorFlow takes no shape from it.
        c.merge(cond, TensorShape.of(dims[:1]))
        return values
    return c.merge(values, cond)


register_op(
    "Select",
    inputs=["condition: bool", "t: T", "e: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=_select_shape,
    doc="Elements (or rows, or all) of t where the condition holds, else of e.",
)


def _select_v2_shape(c: InferenceContext) -> TensorShape:
    values = broadcast_shapes(c, c.input_shape(1), c.input_shape(2))
    return broadcast_shapes(c, values, c.input_shape(0))


register_op(
    "SelectV2",
    inputs=["condition: bool", "t: T", "e: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=_select_v2_shape,
    doc="t where the condition holds, else e; all three broadcast.",
)


register_op(
    "ClipByValue",
    inputs=["t: T", "clip_value_min: T", "clip_value_max: T"],
    outputs=["output: T"],
    attrs=[f"T: {{{_NUMBERS}}}"],
    shape_fn=unchanged_shape,
    doc="t with values outside the limits moved to them.",
)

register_op(
    "Bucketize",
    inputs=["input: T"],
    outputs=["output: int32"],
    attrs=["T: {int32, int64, float, double}", "boundaries: list(float)"],
    shape_fn=unchanged_shape,
    doc="In which interval between sorted boundaries each value lies.",
)
register_op(
    "BucketizeWithInputBoundaries",
    inputs=["input: T", "boundaries: float"],
    outputs=["output: int32"],
    attrs=["T: {int32, int64, float, double}"],
    shape_fn=unchanged_shape,
    doc="In which interval between sorted boundaries, an input, each value lies.",
)


def bucketize(input: Any, boundaries: Any, name: str | None = None) -> Tensor:
    """How many of the sorted boundaries are <= each value, as int32."""
    return apply_op(  # type: ignore[no-any-return]
        "Bucketize", name, input=input, boundaries=boundaries
    )
