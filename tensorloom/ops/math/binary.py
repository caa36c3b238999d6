"""Binary arithmetic ops: z = f(x, y), elementwise with broadcasting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import broadcast_binary_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math.cast import cast

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_REALS: Final = "bfloat16, half, float, double"
_COMPLEX: Final = "complex64, complex128"
_ALL: Final = (
    f"{_REALS}, uint8, int8, uint16, int16, int32, int64, {_COMPLEX}, uint32, uint64"
)
_ORDERED: Final = f"{_REALS}, int32, int64, int8, uint8, int16, uint16, uint32, uint64"
_INTEGERS: Final = "int8, int16, int32, int64, uint8, uint16, uint32, uint64"


class BinaryBuilder(Protocol):
    """`f(x, y, name=None)`: adds the op."""

    def __call__(self, x: Any, y: Any, name: str | None = None) -> Tensor: ...


def _register(
    op: str, types: str, doc: str, commutative: bool = False, gradient: Any = None
) -> None:
    register_op(
        op,
        inputs=["x: T", "y: T"],
        outputs=["z: T"],
        attrs=[f"T: {{{types}}}"],
        shape_fn=broadcast_binary_shape,
        gradient=gradient,
        commutative=commutative,
        doc=doc,
    )


def binary_builder(op: str, *names: str, doc: str) -> BinaryBuilder:
    """The builder of a binary op, exported under `names` (which may be none)."""

    def build(x: Any, y: Any, name: str | None = None) -> Tensor:
        return apply_op(op, name, x=x, y=y)  # type: ignore[no-any-return]

    if names:
        build.__name__ = build.__qualname__ = names[0].rpartition(".")[2]
    build.__doc__ = doc
    return export(*names)(build)


def _binary(
    op: str,
    types: str,
    doc: str,
    *names: str,
    commutative: bool = False,
    gradient: Any = None,
) -> BinaryBuilder:
    _register(op, types, doc, commutative, gradient)
    return binary_builder(op, *names, doc=doc)


# --- sums and products -------------------------------------------------------

add = _binary(
    "Add",
    f"{_REALS}, uint8, int8, int16, int32, int64, {_COMPLEX}, string",
    "x + y, elementwise; strings are joined.",
    "math.add",
    "add",
)
add_v2 = _binary(
    "AddV2",
    f"{_REALS}, uint8, int8, int16, int32, int64, {_COMPLEX}, uint16, uint32, uint64",
    "x + y, elementwise.",
    commutative=True,
)
subtract = _binary("Sub", _ALL, "x - y, elementwise.", "math.subtract", "subtract")
multiply = _binary(
    "Mul",
    _ALL,
    "x * y, elementwise.",
    "math.multiply",
    "multiply",
    commutative=True,
)
mul_no_nan = _binary(
    "MulNoNan",
    f"half, float, double, {_COMPLEX}, bfloat16",
    "x * y, and 0 where y is 0 even if x is infinite or NaN.",
)
squared_difference = _binary(
    "SquaredDifference",
    f"{_REALS}, int32, int64, {_COMPLEX}",
    "(x - y) * (x - y), conjugating one factor.",
    "math.squared_difference",
    "squared_difference",
    commutative=True,
)

# --- quotients ---------------------------------------------------------------

_register("Div", _ALL, "x / y; integer quotients are truncated.")
realdiv = _binary("RealDiv", _ALL, "x / y for reals.", "realdiv")
floor_div = _binary(
    "FloorDiv",
    _ALL,
    "x / y, rounded to the next integer below.",
    "floor_div",
)
truncatediv = _binary(
    "TruncateDiv",
    _ALL,
    "x / y; integer quotients are rounded toward zero.",
    "truncatediv",
)
_register(
    "DivNoNan",
    f"half, float, double, {_COMPLEX}, bfloat16",
    "x / y, and 0 where y is 0.",
)
floormod = _binary(
    "FloorMod",
    _ORDERED,
    "The remainder of floor division; it has the sign of y.",
    "floormod",
    "math.floormod",
    "mod",
    "math.mod",
)
mod = floormod
truncatemod = _binary(
    "TruncateMod",
    f"int32, int64, {_REALS}",
    "The remainder of truncated division; it has the sign of x.",
    "truncatemod",
)
_register(
    "Mod",
    "int32, int64, half, bfloat16, float, double",
    "The remainder of truncated division, as C's `%`.",
)
xdivy = _binary(
    "Xdivy",
    f"half, float, double, {_COMPLEX}, bfloat16",
    "x / y, and 0 where x is 0.",
    "math.xdivy",
)
xlogy = _binary(
    "Xlogy",
    f"half, float, double, {_COMPLEX}, bfloat16",
    "x * log(y), and 0 where x is 0.",
    "math.xlogy",
)

# --- powers, extremes, angles ------------------------------------------------

_register(
    "Pow",
    f"bfloat16, float, half, double, int32, int64, {_COMPLEX}, int8, int16",
    "x ** y, elementwise.",
)
maximum = _binary(
    "Maximum",
    f"{_REALS}, int32, int64, int8, uint8, int16, uint16, uint32, uint64",
    "The larger of x and y, elementwise.",
    "math.maximum",
    "maximum",
)
minimum = _binary(
    "Minimum",
    f"{_REALS}, int32, int64, int8, uint8, int16, uint16, uint32, uint64",
    "The smaller of x and y, elementwise.",
    "math.minimum",
    "minimum",
)
register_op(
    "Atan2",
    inputs=["y: T", "x: T"],
    outputs=["z: T"],
    attrs=[f"T: {{{_REALS}}}"],
    shape_fn=broadcast_binary_shape,
    doc="The angle of the point (x, y).",
)
register_op(
    "NextAfter",
    inputs=["x1: T", "x2: T"],
    outputs=["output: T"],
    attrs=["T: {double, float} = DT_FLOAT"],
    shape_fn=broadcast_binary_shape,
    doc="The next number after x1 in the direction of x2.",
)

# --- bits --------------------------------------------------------------------

bitwise_and = _binary(
    "BitwiseAnd",
    _INTEGERS,
    "Bits that are set in both.",
    "bitwise.bitwise_and",
    commutative=True,
    gradient=NOT_DIFFERENTIABLE,
)
bitwise_or = _binary(
    "BitwiseOr",
    _INTEGERS,
    "Bits that are set in one or both.",
    "bitwise.bitwise_or",
    commutative=True,
    gradient=NOT_DIFFERENTIABLE,
)
bitwise_xor = _binary(
    "BitwiseXor",
    _INTEGERS,
    "Bits that are set in exactly one.",
    "bitwise.bitwise_xor",
    commutative=True,
    gradient=NOT_DIFFERENTIABLE,
)
left_shift = _binary(
    "LeftShift",
    _INTEGERS,
    "x with its bits moved up by y places.",
    "bitwise.left_shift",
    gradient=NOT_DIFFERENTIABLE,
)
right_shift = _binary(
    "RightShift",
    _INTEGERS,
    "x with its bits moved down by y places; the sign stays.",
    "bitwise.right_shift",
    gradient=NOT_DIFFERENTIABLE,
)

# --- builders with more to them ----------------------------------------------


@export("math.atan2", "atan2")
def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), in (-pi, pi]."""
    return apply_op("Atan2", name, y=y, x=x)  # type: ignore[no-any-return]


@export("math.nextafter")
def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next representable number after x1 in the direction of x2."""
    return apply_op("NextAfter", name, x1=x1, x2=x2)  # type: ignore[no-any-return]


@export("math.pow", "pow")
def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x ** y, elementwise.

    Raises:
      errors.InvalidArgumentError: at run time, for an integer to a negative power.
    """
    with name_scope(name, "Pow", [x]) as scope:
        return apply_op("Pow", scope, x=x, y=y)  # type: ignore[no-any-return]


@export("math.scalar_mul", "scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a Tensor or IndexedSlices (which stays sparse).

    Raises:
      ValueError: `scalar` is not of rank 0.
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.shape.rank != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        values = multiply(scalar, x.values, name)
        return IndexedSlices(values, x.indices, x.dense_shape)
    return multiply(scalar, x, name)


# --- division by the rules of Python -----------------------------------------

# What `/` computes in; None: the dtype itself.
_TRUE_DIVISION: Final[dict[DType, DType | None]] = {
    **dict.fromkeys(
        (dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16), dtypes.float32
    ),
    **dict.fromkeys((dtypes.int32, dtypes.int64), dtypes.float64),
    **dict.fromkeys(
        (
            *(dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64),
            *(dtypes.complex64, dtypes.complex128),
        )
    ),
}


def require_same_dtype(x: Tensor, y: Tensor) -> DType:
    """The dtype of both.

    Raises:
      TypeError: they differ.
    """
    dtype, other = x.dtype.base_dtype, y.dtype.base_dtype
    if dtype is not other:
        raise TypeError(f"x and y must have the same dtype, got {dtype!r} != {other!r}")
    return dtype


def true_division_dtype(dtype: DType) -> DType | None:
    """The dtype to cast to before a true division, None for `dtype` itself.

    Raises:
      TypeError: values of this dtype cannot be divided.
    """
    try:
        return _TRUE_DIVISION[dtype]
    except KeyError:
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__") from None


@export("math.truediv", "truediv")
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 3 divides: integers become floats first.

    Raises:
      TypeError: x and y differ in dtype.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        wide = true_division_dtype(require_same_dtype(x, y))
        if wide is not None:
            x, y = cast(x, wide), cast(y, wide)
        return realdiv(x, y, name=scope)


@export("div")
def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 divides: integer quotients are floored.

    Raises:
      TypeError: x and y differ in dtype.
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        dtype = require_same_dtype(x, y)
        if dtype.is_floating or dtype.is_complex:
            return realdiv(x, y, name=scope)
        return floor_div(x, y, name=scope)


@export("math.divide", "divide")
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y: the Python operator, with a name when one is given."""
    if name is not None:
        return truediv(x, y, name)
    return x / y


@export("math.floordiv", "floordiv")
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x // y: the quotient rounded to the next integer below."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return floor_div(x, y, name=scope)


@export("math.divide_no_nan", "div_no_nan")
def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0.

    Raises:
      TypeError: x and y differ in dtype.
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return apply_op("DivNoNan", scope, x=x, y=y)  # type: ignore[no-any-return]


@export("math.multiply_no_nan")
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0, even if x is infinite or NaN.

    Raises:
      TypeError: x and y differ in dtype.
    """
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return mul_no_nan(x, y, name=scope)


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = convert_to_tensor(1, dtype=x.dtype.base_dtype, name="one")
        return apply_op("DivNoNan", scope, x=one, y=x)  # type: ignore[no-any-return]
