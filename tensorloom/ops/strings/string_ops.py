"""Ops on strings: StringJoin, AsString, StringToNumber, StringLength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    unchanged_shape,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.array import argument_aliases

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.dtypes import DType


def _join_shape(c: InferenceContext) -> TensorShape:
    """The one shape of all inputs that are not scalars."""
    shapes = list(c.input_shapes)
    if all(shape.rank == 0 for shape in shapes):
        return SCALAR
    result = TensorShape.of(None)
    for shape in shapes:
        if shape.rank not in (None, 0):
            result = c.merge(result, shape)
    return result


register_op(
    "StringJoin",
    inputs=["inputs: N * string"],
    outputs=["output: string"],
    attrs=["N: int >= 1", "separator: string = ''"],
    shape_fn=_join_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The inputs' strings joined element by element; scalars go with each.",
)

register_op(
    "AsString",
    inputs=["input: T"],
    outputs=["output: string"],
    attrs=[
        "T: {int8, int16, int32, int64, complex64, complex128, float, double, bool, "
        "uint8, bfloat16, uint16, half, uint32, uint64, variant, string}",
        "precision: int = -1",
        "scientific: bool = false",
        "shortest: bool = false",
        "width: int = -1",
        "fill: string = ''",
    ],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Numbers as text.",
)

register_op(
    "StringToNumber",
    inputs=["string_tensor: string"],
    outputs=["output: out_type"],
    attrs=["out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Text as numbers.",
)

register_op(
    "StringLength",
    inputs=["input: string"],
    outputs=["output: int32"],
    attrs=["unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"],
    shape_fn=unchanged_shape,
    doc="The length of each string in bytes or characters.",
)


@export("string_join", "strings.join")
def string_join(
    inputs: Sequence[Any], separator: str = "", name: str | None = None
) -> Tensor:
    """The strings of several tensors joined element by element.

    Args:
      inputs: of one shape; scalars go with each element of the others.
    """
    return apply_op("StringJoin", inputs=inputs, separator=separator, name=name)  # type: ignore[no-any-return]


@export("as_string", "dtypes.as_string", "strings.as_string")
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as text, as C's printf writes them.

    Args:
      precision: digits after the point; 6 when negative.
      scientific, shortest: formats %e and %g instead of %f.
      width: fill up to this length, with `fill` ("0", "-", "+" or " ").
    """
    return apply_op(  # type: ignore[no-any-return]
        "AsString",
        input=input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=fill,
        name=name,
    )


@export("string_to_number", "strings.to_number")
def string_to_number(
    string_tensor: Any = None,
    out_type: DType = dtypes.float32,
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """Text as numbers of `out_type`.

    Raises (at run time):
      errors.InvalidArgumentError: a string is not a number.
    """
    text = argument_aliases.either("input", input, "string_tensor", string_tensor)
    return apply_op("StringToNumber", string_tensor=text, out_type=out_type, name=name)  # type: ignore[no-any-return]


@export("strings.length")
def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The length of each string in bytes, or in UTF-8 characters."""
    return apply_op("StringLength", input=input, unit=unit, name=name)  # type: ignore[no-any-return]
