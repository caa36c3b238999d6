"""Quantization: float tensors to small integers over a range, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _range_shape(c: InferenceContext, first: int) -> TensorShape:
    """The shape of a range: scalars, or vectors where there is an axis."""
    axis = c.attrs.get("axis", -1)
    if axis == -1:
        for index in (first, first + 1):
            c.with_rank(index, 0)
        return SCALAR
    shape = c.merge(c.with_rank(first, 1), c.with_rank(first + 1, 1))
    dims = c.input_shape(0).dims_tuple
    if dims is not None:
        if not -1 <= axis < len(dims):
            c.fail(f"axis {axis} is out of range for a tensor of rank {len(dims)}")
        c.merge(shape, TensorShape.of((dims[axis],)))
    return shape


def _quantize_shape(c: InferenceContext) -> list[TensorShape]:
    bounds = _range_shape(c, 1)
    return [c.input_shape(0), bounds, bounds]


def _same_with_range(c: InferenceContext) -> TensorShape:
    _range_shape(c, 1)
    if c.num_inputs == 4:  # the number of bits
        c.with_rank(3, 0)
    return c.input_shape(0)


def with_scalar_range(*ranges: int) -> Any:
    """Shape function: the first input's shape and two scalars; those are scalars."""

    def shapes(c: InferenceContext) -> list[TensorShape]:
        for index in ranges:
            c.with_rank(index, 0)
        return [c.input_shape(0), SCALAR, SCALAR]

    return shapes


def _per_channel_shape(c: InferenceContext) -> list[TensorShape]:
    for index in (1, 2):
        c.with_rank(index, 1)
    for index in (3, 4):
        c.with_rank(index, 0)
    return [c.input_shape(0), SCALAR, SCALAR]


def _two_scalars(c: InferenceContext) -> list[TensorShape]:
    for index in (1, 2):
        c.with_rank(index, 1 if "PerChannel" in c.op_name else 0)
    return [SCALAR, SCALAR]


def _v4_grad_shape(c: InferenceContext) -> list[TensorShape]:
    both = c.merge(c.input_shape(0), c.input_shape(1))
    rank = 0 if c.attrs["axis"] == -1 else 1
    return [both, c.with_rank(2, rank), c.with_rank(3, rank)]


# --- gradients ---------------------------------------------------------------


def _straight_through(count: int) -> Any:
    """A gradient that goes through rounding as if it was not there."""

    def gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
        return [grad, *[None] * (count - 1)]

    return gradient


def _v4_grad(op: Operation, grad: Tensor) -> Any:
    return apply_op(
        "QuantizeAndDequantizeV4Grad",
        gradients=grad,
        input=op.inputs[0],
        input_min=op.inputs[1],
        input_max=op.inputs[2],
        axis=op.get_attr("axis"),
    )


# --- ops ---------------------------------------------------------------------

QUANTIZED = "{qint8, quint8, qint32, qint16, quint16}"
_MODE = "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"
_FLOATS = "T: {bfloat16, half, float, double}"
_ROUND = "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'"
# Of TensorFlow 2; see `newer_attrs.ADDED`.
_AXIS = "axis: int = -1"
_NARROW = ("narrow_range: bool = false", _AXIS)

register_op(
    "QuantizeV2",
    inputs=["input: float", "min_range: float", "max_range: float"],
    outputs=["output: T", "output_min: float", "output_max: float"],
    attrs=[
        f"T: {QUANTIZED}",
        _MODE,
        "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'",
        *_NARROW,
        # 0.01, as a float has it.
        "ensure_minimum_range: float = 0.009999999776482582",
    ],
    shape_fn=_quantize_shape,
    doc="Floats as integers over a range, and the range that was used.",
)

register_op(
    "Dequantize",
    inputs=["input: T", "min_range: float", "max_range: float"],
    outputs=["output: dtype"],
    attrs=[
        f"T: {QUANTIZED}",
        _MODE,
        *_NARROW,
        "dtype: {bfloat16, float} = DT_FLOAT",
    ],
    shape_fn=_same_with_range,
    doc="The floats that quantized integers stand for.",
)

register_op(
    "QuantizeAndDequantize",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[
        "signed_input: bool = true",
        "num_bits: int = 8",
        "range_given: bool = false",
        "input_min: float = 0.0",
        "input_max: float = 0.0",
        _FLOATS,
    ],
    shape_fn=unchanged_shape,
    gradient=_straight_through(1),
    deprecated=(22, "Replaced by QuantizeAndDequantizeV2"),
    doc="Floats rounded to what can be quantized; the range is an attr.",
)

register_op(
    "QuantizeAndDequantizeV2",
    inputs=["input: T", "input_min: T", "input_max: T"],
    outputs=["output: T"],
    attrs=[
        "signed_input: bool = true",
        "num_bits: int = 8",
        "range_given: bool = false",
        _FLOATS,
        _ROUND,
        "narrow_range: bool = false",
        _AXIS,
    ],
    shape_fn=_same_with_range,
    gradient=_straight_through(3),
    doc="Floats rounded to what can be quantized.",
)

register_op(
    "QuantizeAndDequantizeV3",
    inputs=["input: T", "input_min: T", "input_max: T", "num_bits: int32"],
    outputs=["output: T"],
    attrs=[
        "signed_input: bool = true",
        "range_given: bool = true",
        _FLOATS,
        "narrow_range: bool = false",
        _AXIS,
    ],
    shape_fn=_same_with_range,
    gradient=_straight_through(4),
    doc="Floats rounded to what can be quantized; the number of bits is an input.",
)

register_op(
    "QuantizeAndDequantizeV4",
    inputs=["input: T", "input_min: T", "input_max: T"],
    outputs=["output: T"],
    attrs=[
        "signed_input: bool = true",
        "num_bits: int = 8",
        "range_given: bool = false",
        _FLOATS,
        _ROUND,
        "narrow_range: bool = false",
        "axis: int = -1",
    ],
    shape_fn=_same_with_range,
    gradient=_v4_grad,
    doc="QuantizeAndDequantizeV2 whose gradient stops outside the range.",
)

register_op(
    "QuantizeAndDequantizeV4Grad",
    inputs=["gradients: T", "input: T", "input_min: T", "input_max: T"],
    outputs=["input_backprop: T", "input_min_backprop: T", "input_max_backprop: T"],
    attrs=[_FLOATS, "axis: int = -1"],
    shape_fn=_v4_grad_shape,
    doc="The gradient of QuantizeAndDequantizeV4.",
)

register_op(
    "QuantizeDownAndShrinkRange",
    inputs=["input: Tinput", "input_min: float", "input_max: float"],
    outputs=["output: out_type", "output_min: float", "output_max: float"],
    attrs=[f"Tinput: {QUANTIZED}", f"out_type: {QUANTIZED}"],
    shape_fn=with_scalar_range(1, 2),
    doc="Integers of fewer bits, over the range that the values really have.",
)

register_op(
    "Requantize",
    inputs=[
        "input: Tinput",
        "input_min: float",
        "input_max: float",
        "requested_output_min: float",
        "requested_output_max: float",
    ],
    outputs=["output: out_type", "output_min: float", "output_max: float"],
    attrs=[f"Tinput: {QUANTIZED}", f"out_type: {QUANTIZED}"],
    shape_fn=with_scalar_range(1, 2, 3, 4),
    doc="Integers over another range.",
)

register_op(
    "RequantizePerChannel",
    inputs=[
        "input: T",
        "input_min: float",
        "input_max: float",
        "requested_output_min: float",
        "requested_output_max: float",
    ],
    outputs=["output: out_type", "output_min: float", "output_max: float"],
    attrs=[f"T: {QUANTIZED} = DT_QINT32", f"out_type: {QUANTIZED} = DT_QUINT8"],
    shape_fn=_per_channel_shape,
    doc="Requantize with an input range for each channel.",
)

register_op(
    "RequantizationRange",
    inputs=["input: Tinput", "input_min: float", "input_max: float"],
    outputs=["output_min: float", "output_max: float"],
    attrs=[f"Tinput: {QUANTIZED}"],
    shape_fn=_two_scalars,
    doc="The range that quantized values really have.",
)

register_op(
    "RequantizationRangePerChannel",
    inputs=["input: T", "input_min: float", "input_max: float"],
    outputs=["output_min: float", "output_max: float"],
    attrs=[f"T: {QUANTIZED} = DT_QINT32", "clip_value_max: float"],
    shape_fn=_two_scalars,
    doc="RequantizationRange with an input range for each channel.",
)

# --- builders ----------------------------------------------------------------


@export("quantize", "quantization.quantize")
def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> Any:
    """(output, output_min, output_max): floats as integers `T` over a range."""
    return apply_op(
        "QuantizeV2",
        input=input,
        min_range=min_range,
        max_range=max_range,
        T=T,
        mode=mode,
        round_mode=round_mode,
        name=name,
    )


@export("quantize_v2")
def quantize_v2(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """The older name of `quantize`."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


@export("dequantize", "quantization.dequantize")
def dequantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
) -> Tensor:
    """The float32 values that quantized integers stand for."""
    return apply_op(  # type: ignore[no-any-return]
        "Dequantize",
        input=input,
        min_range=min_range,
        max_range=max_range,
        mode=mode,
        name=name,
    )


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """Floats rounded as if they were quantized to `num_bits` and back."""
    input = convert_to_tensor(input, preferred_dtype=dtypes.float32)
    return apply_op(  # type: ignore[no-any-return]
        "QuantizeAndDequantizeV2",
        input=input,
        input_min=input_min,
        input_max=input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
