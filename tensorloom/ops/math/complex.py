"""Complex numbers: made of parts, taken apart, conjugated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_binary_shape,
    unchanged_shape,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import fill as fill_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape

_TO_REAL = (
    "T: {complex64, complex128} = DT_COMPLEX64",
    "Tout: {float, double} = DT_FLOAT",
)


register_op(
    "Complex",
    inputs=["real: T", "imag: T"],
    outputs=["out: Tout"],
    attrs=[
        "T: {float, double} = DT_FLOAT",
        "Tout: {complex64, complex128} = DT_COMPLEX64",
    ],
    shape_fn=broadcast_binary_shape,
    doc="The complex number of a real and an imaginary part.",
)


def _register_part(
    op: str,
    doc: str,
    argument: str = "input",
    out: str = "output",
) -> None:
    register_op(
        op,
        inputs=[f"{argument}: T"],
        outputs=[f"{out}: Tout"],
        attrs=_TO_REAL,
        shape_fn=unchanged_shape,
        doc=doc,
    )


_register_part("Real", "The real part.")
_register_part("Imag", "The imaginary part.")
_register_part("Angle", "The argument, in (-pi, pi].")
_register_part("ComplexAbs", "The modulus.", "x", "y")


def _conj_shape(c: InferenceContext) -> TensorShape:
    handle = c.handle_data(0)
    if handle is not None:
        c.set_output_handle_data(0, handle)
    return c.input_shape(0)


register_op(
    "Conj",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: {complex64, complex128, variant} = DT_COMPLEX64"],
    shape_fn=_conj_shape,
    doc="The complex conjugate.",
)


@export("dtypes.complex", "complex")
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i imag: complex64 of float32 parts, complex128 of float64 parts.

    Raises:
      TypeError: the parts are of other dtypes, or differ.
    """
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        types = (real.dtype, imag.dtype)
        if types == (dtypes.float64, dtypes.float64):
            out = dtypes.complex128
        elif types == (dtypes.float32, dtypes.float32):
            out = dtypes.complex64
        else:
            raise TypeError(
                "real and imag have incorrect types: "
                f"{real.dtype.name} {imag.dtype.name}"
            )
        return apply_op(  # type: ignore[no-any-return]
            "Complex", scope, real=real, imag=imag, Tout=out
        )


@export("math.real", "real")
def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor is returned as it is."""
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input  # type: ignore[no-any-return]
        return apply_op(  # type: ignore[no-any-return]
            "Real", scope, input=input, Tout=input.dtype.real_dtype
        )


@export("math.imag", "imag")
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part: zeros for a real tensor."""
    return _part("Imag", input, name)


@export("math.angle", "angle")
def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument in (-pi, pi]: zeros for a real tensor."""
    return _part("Angle", input, name)


def _part(op: str, input: Any, name: str | None) -> Tensor:
    with name_scope(name, op, [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return fill_ops.zeros_like(input)
        return apply_op(  # type: ignore[no-any-return]
            op, scope, input=input, Tout=input.dtype.real_dtype
        )


@export("math.conj", "conj")
def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned as it is.

    Raises:
      TypeError: x is not numeric.
    """
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype == dtypes.variant:
            return apply_op("Conj", scope, input=x)  # type: ignore[no-any-return]
        if x.dtype.is_floating or x.dtype.is_integer:
            return x  # type: ignore[no-any-return]
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
