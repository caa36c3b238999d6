"""Quantized convolution and pooling, with what may be fused behind a convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.convolution.window_shapes import window_output_size
from tensorloom.ops.quantized.quantize import QUANTIZED

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _spatial(
    c: InferenceContext, dims: Any, windows: Any, dilations: Any
) -> list[int | None]:
    strides = c.attrs["strides"]
    if len(strides) != 4:
        c.fail(
            f"{c.op_name} requires the stride attribute to contain 4 values, but got: "
            f"{len(strides)}"
        )
    pads = c.attrs.get("padding_list") or [0] * 8
    return [
        window_output_size(
            c,
            dims[axis],
            windows[axis - 1],
            strides[axis],
            c.attrs["padding"],
            dilation=dilations[axis],
            pad_before=pads[2 * axis],
            pad_after=pads[2 * axis + 1],
        )
        for axis in (1, 2)
    ]


def _conv_shape(c: InferenceContext) -> list[TensorShape]:
    dims, filters = c.with_rank(0, 4).dims_tuple, c.with_rank(1, 4).dims_tuple
    assert dims is not None
    assert filters is not None
    c.merge_dim(dims[3], filters[2])
    if c.op_name == "QuantizedConv2D":  # the ranges of both
        for index in range(2, 6):
            c.with_rank(index, 0)
    depth = filters[3]
    if "Depthwise" in c.op_name:
        known = filters[2] is not None and filters[3] is not None
        depth = filters[2] * filters[3] if known else None  # type: ignore[operator]
    dilations = c.attrs["dilations"]
    if len(dilations) != 4:
        c.fail(
            "Conv2D requires the dilation attribute to contain 4 values, but got: "
            f"{len(dilations)}"
        )
    sizes = _spatial(c, dims, filters[:2], dilations)
    bounds = SCALAR
    if "PerChannel" in c.op_name:
        bounds = TensorShape.of((depth,))
    return [TensorShape.of((dims[0], *sizes, depth)), bounds, bounds]


def _pool_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    ksize = c.attrs["ksize"]
    if len(ksize) != 4:
        c.fail(
            f"{c.op_name} requires the ksize attribute to contain 4 values, but got: "
            f"{len(ksize)}"
        )
    for index in (1, 2):
        c.with_rank(index, 0)
    sizes = _spatial(c, dims, ksize[1:3], [1] * 4)
    return [TensorShape.of((dims[0], *sizes, dims[3])), SCALAR, SCALAR]


# --- ops ---------------------------------------------------------------------

_WINDOW = ["strides: list(int)", "padding: {'SAME', 'VALID'}"]
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1]"
_RANGES = ["min_input: float", "max_input: float", "min_filter: float"]
_RANGES += ["max_filter: float"]
_FROZEN = ["min_freezed_output: float", "max_freezed_output: float"]


def _register_conv(op: str, doc: str, padded: bool = True) -> None:
    """One of the family; its name says what follows the convolution."""
    requantized, summed = "AndRequantize" in op, "Sum" in op
    typed_bias = requantized and "WithBias" in op
    inputs = ["input: Tinput", "filter: Tfilter"]
    attrs = [f"Tinput: {QUANTIZED}", f"Tfilter: {QUANTIZED}"]
    if "WithBias" in op:
        inputs.append("bias: Tbias" if typed_bias else "bias: float")
    inputs += _RANGES + (_FROZEN if requantized else [])
    if typed_bias:
        attrs.append("Tbias: {float, qint32}")
    if summed and requantized:
        inputs += ["summand: Tsummand", "min_summand: float", "max_summand: float"]
        attrs.append(f"Tsummand: {QUANTIZED}")
    elif summed:
        inputs.append("summand: float")
    default = "DT_QINT32"
    if requantized:
        default = "DT_QUINT8" if "Relu" in op else "DT_QINT8"
    attrs += [f"out_type: {QUANTIZED} = {default}", *_WINDOW, _DILATIONS]
    if padded:
        attrs.append("padding_list: list(int) = []")
    register_op(
        op,
        inputs=inputs,
        outputs=["output: out_type", "min_output: float", "max_output: float"],
        attrs=attrs,
        shape_fn=_conv_shape,
        doc=doc,
    )


_register_conv("QuantizedConv2D", "A convolution of quantized images.", padded=False)
_register_conv(
    "QuantizedConv2DPerChannel",
    "A quantized convolution, a filter range for each output channel.",
    padded=False,
)
for _suffix in (
    "AndRelu",
    "AndReluAndRequantize",
    "AndRequantize",
    "WithBias",
    "WithBiasAndRelu",
    "WithBiasAndReluAndRequantize",
    "WithBiasAndRequantize",
    "WithBiasSumAndRelu",
    "WithBiasSumAndReluAndRequantize",
    "WithBiasSignedSumAndReluAndRequantize",
):
    _register_conv(
        f"QuantizedConv2D{_suffix}", "A quantized convolution with what follows it."
    )
for _suffix in ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize"):
    _register_conv(
        f"QuantizedDepthwiseConv2D{_suffix}",
        "A quantized depthwise convolution with what follows it.",
        padded=False,
    )

for _op, _doc in (
    ("QuantizedMaxPool", "The maximum of each window of quantized images."),
    ("QuantizedAvgPool", "The mean of each window of quantized images."),
):
    register_op(
        _op,
        inputs=["input: T", "min_input: float", "max_input: float"],
        outputs=["output: T", "min_output: float", "max_output: float"],
        attrs=[f"T: {QUANTIZED}", "ksize: list(int)", *_WINDOW],
        shape_fn=_pool_shape,
        doc=_doc,
    )

# --- builders ----------------------------------------------------------------


@export("nn.quantized_conv2d")
def quantized_conv2d(
    input: Any,
    filter: Any,
    min_input: Any,
    max_input: Any,
    min_filter: Any,
    max_filter: Any,
    strides: Any,
    padding: Any,
    out_type: Any = dtypes.qint32,
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """(output, min_output, max_output): quantized images with quantized filters."""
    return apply_op(
        "QuantizedConv2D",
        input=input,
        filter=filter,
        min_input=min_input,
        max_input=max_input,
        min_filter=min_filter,
        max_filter=max_filter,
        strides=strides,
        padding=padding,
        out_type=out_type,
        dilations=list(dilations),
        name=name,
    )


def _pool(op: str, input: Any, bounds: Any, window: Any, name: str | None) -> Any:
    ksize, strides, padding = window
    return apply_op(
        op,
        input=input,
        min_input=bounds[0],
        max_input=bounds[1],
        ksize=ksize,
        strides=strides,
        padding=padding,
        name=name,
    )


@export("nn.quantized_avg_pool")
def quantized_avg_pool(
    input: Any,
    min_input: Any,
    max_input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    name: str | None = None,
) -> Any:
    """(output, min_output, max_output): the mean of each window."""
    window = (ksize, strides, padding)
    return _pool("QuantizedAvgPool", input, (min_input, max_input), window, name)


@export("nn.quantized_max_pool")
def quantized_max_pool(
    input: Any,
    min_input: Any,
    max_input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    name: str | None = None,
) -> Any:
    """(output, min_output, max_output): the maximum of each window."""
    window = (ksize, strides, padding)
    return _pool("QuantizedMaxPool", input, (min_input, max_input), window, name)
