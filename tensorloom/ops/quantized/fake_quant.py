"""Fake quantization: what quantizing does to floats, with gradients to train by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _vars_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    c.with_rank(2, 0)
    return c.input_shape(0)


def _vars_gradient_shape(c: InferenceContext) -> list[TensorShape]:
    shape = c.merge(c.input_shape(0), c.input_shape(1))
    c.with_rank(2, 0)
    c.with_rank(3, 0)
    return [shape, SCALAR, SCALAR]


def _channels(c: InferenceContext, shape: TensorShape, first: int) -> TensorShape:
    """[channels], from the last axis of the inputs and both bounds."""
    dims = shape.dims_tuple
    bounds = TensorShape.of((None if dims is None else dims[-1],))
    for index in (first, first + 1):
        bounds = c.merge(c.with_rank(index, 1), bounds)
    return bounds


def _per_channel_shape(c: InferenceContext) -> TensorShape:
    shape = c.with_rank_at_least(0, 1)
    _channels(c, shape, 1)
    return shape


def _per_channel_gradient_shape(c: InferenceContext) -> list[TensorShape]:
    shape = c.merge(c.with_rank_at_least(0, 1), c.input_shape(1))
    bounds = _channels(c, shape, 2)
    return [shape, bounds, bounds]


# --- gradients ---------------------------------------------------------------


def _bits(op: Operation) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("num_bits", "narrow_range")}


def _args_grad(op: Operation, grad: Tensor) -> Tensor:
    return fake_quant_with_min_max_args_gradient(
        grad,
        op.inputs[0],
        min=op.get_attr("min"),
        max=op.get_attr("max"),
        **_bits(op),
    )


def _vars_grad(op: Operation, grad: Tensor) -> Any:
    return fake_quant_with_min_max_vars_gradient(grad, *op.inputs, **_bits(op))


def _per_channel_grad(op: Operation, grad: Tensor) -> Any:
    return fake_quant_with_min_max_vars_per_channel_gradient(
        grad, *op.inputs, **_bits(op)
    )


# --- ops ---------------------------------------------------------------------

_BITS = ["num_bits: int = 8", "narrow_range: bool = false"]
_RANGE = ["min: float = -6.0", "max: float = 6.0"]
_VARS = ["inputs: float", "min: float", "max: float"]
_BACKPROPS = [
    "backprops_wrt_input: float",
    "backprop_wrt_min: float",
    "backprop_wrt_max: float",
]

register_op(
    "FakeQuantWithMinMaxArgs",
    inputs=["inputs: float"],
    outputs=["outputs: float"],
    attrs=[*_RANGE, *_BITS],
    shape_fn=unchanged_shape,
    gradient=_args_grad,
    doc="Floats rounded to what can be quantized over a fixed range.",
)

register_op(
    "FakeQuantWithMinMaxArgsGradient",
    inputs=["gradients: float", "inputs: float"],
    outputs=["backprops: float"],
    attrs=[*_RANGE, *_BITS],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradient of FakeQuantWithMinMaxArgs: zero outside the range.",
)

register_op(
    "FakeQuantWithMinMaxVars",
    inputs=_VARS,
    outputs=["outputs: float"],
    attrs=_BITS,
    shape_fn=_vars_shape,
    gradient=_vars_grad,
    doc="Floats rounded to what can be quantized over a range.",
)

register_op(
    "FakeQuantWithMinMaxVarsGradient",
    inputs=["gradients: float", *_VARS],
    outputs=_BACKPROPS,
    attrs=_BITS,
    shape_fn=_vars_gradient_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradient of FakeQuantWithMinMaxVars, by inputs and range.",
)

register_op(
    "FakeQuantWithMinMaxVarsPerChannel",
    inputs=_VARS,
    outputs=["outputs: float"],
    attrs=_BITS,
    shape_fn=_per_channel_shape,
    gradient=_per_channel_grad,
    doc="FakeQuantWithMinMaxVars with a range for each channel (last axis).",
)

register_op(
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    inputs=["gradients: float", *_VARS],
    outputs=_BACKPROPS,
    attrs=_BITS,
    shape_fn=_per_channel_gradient_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradient of FakeQuantWithMinMaxVarsPerChannel.",
)

# --- builders ----------------------------------------------------------------


@export(
    "quantization.fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args",
)
def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """float32 inputs, clamped to [min, max] and rounded to 2 ** num_bits levels."""
    return apply_op(  # type: ignore[no-any-return]
        "FakeQuantWithMinMaxArgs",
        inputs=inputs,
        min=min,
        max=max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


@export(
    "quantization.fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_args_gradient",
)
def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradients where inputs are in the range, zeros elsewhere."""
    return apply_op(  # type: ignore[no-any-return]
        "FakeQuantWithMinMaxArgsGradient",
        gradients=gradients,
        inputs=inputs,
        min=min,
        max=max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


def _variable_range(op: str, name: str | None, bits: Any, **inputs: Any) -> Any:
    num_bits, narrow_range = bits
    return apply_op(
        op, num_bits=num_bits, narrow_range=narrow_range, name=name, **inputs
    )


@export(
    "quantization.fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars",
)
def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`fake_quant_with_min_max_args` over a range of scalar tensors."""
    return _variable_range(  # type: ignore[no-any-return]
        "FakeQuantWithMinMaxVars",
        name,
        (num_bits, narrow_range),
        inputs=inputs,
        min=min,
        max=max,
    )


@export(
    "quantization.fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_gradient",
)
def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Gradients by inputs, min and max."""
    return _variable_range(
        "FakeQuantWithMinMaxVarsGradient",
        name,
        (num_bits, narrow_range),
        gradients=gradients,
        inputs=inputs,
        min=min,
        max=max,
    )


@export(
    "quantization.fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel",
)
def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`fake_quant_with_min_max_vars` with vectors min and max for the last axis."""
    return _variable_range(  # type: ignore[no-any-return]
        "FakeQuantWithMinMaxVarsPerChannel",
        name,
        (num_bits, narrow_range),
        inputs=inputs,
        min=min,
        max=max,
    )


@export(
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
    "fake_quant_with_min_max_vars_per_channel_gradient",
)
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Gradients by inputs, min and max, the latter vectors."""
    return _variable_range(
        "FakeQuantWithMinMaxVarsPerChannelGradient",
        name,
        (num_bits, narrow_range),
        gradients=gradients,
        inputs=inputs,
        min=min,
        max=max,
    )
