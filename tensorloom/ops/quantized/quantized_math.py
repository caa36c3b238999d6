"""Arithmetic on quantized tensors; each carries its range as two scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import broadcast_binary_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.array.concat import concat_shape
from tensorloom.ops.array.reshape import reshape_shape
from tensorloom.ops.image.shapes import resized_shape
from tensorloom.ops.quantized.quantize import QUANTIZED, with_scalar_range

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _scalars(c: InferenceContext, *indices: int) -> None:
    for index in indices:
        c.with_rank(index, 0)


def _binary_shape(c: InferenceContext) -> list[TensorShape]:
    _scalars(c, 2, 3, 4, 5)
    return [broadcast_binary_shape(c), SCALAR, SCALAR]


def _product(c: InferenceContext) -> TensorShape:
    a, b = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 2).dims_tuple
    assert a is not None
    assert b is not None
    rows, inner_a = reversed(a) if c.attrs["transpose_a"] else a
    inner_b, columns = reversed(b) if c.attrs["transpose_b"] else b
    c.merge_dim(inner_a, inner_b)
    return TensorShape.of((rows, columns))


def _matmul_shape(c: InferenceContext) -> list[TensorShape]:
    _scalars(c, 2, 3, 4, 5)
    return [_product(c), SCALAR, SCALAR]


def _matmul_bias_shape(c: InferenceContext) -> list[TensorShape]:
    shape = _product(c)
    c.with_rank(2, 1)
    return [shape, *[SCALAR] * (c.num_outputs - 1)]


def _bias_shape(c: InferenceContext) -> list[TensorShape]:
    bias = c.with_rank(1, 1).dims_tuple
    dims = c.with_rank_at_least(0, 2).dims_tuple
    _scalars(c, 2, 3, 4, 5)
    assert bias is not None
    if not dims:
        return [c.input_shape(0), SCALAR, SCALAR]
    depth = c.merge_dim(dims[-1], bias[0])
    return [TensorShape.of((*dims[:-1], depth)), SCALAR, SCALAR]


def _concat_shape(c: InferenceContext) -> list[TensorShape]:
    _scalars(c, *range(c.attrs["N"] + 1, c.num_inputs))
    return [concat_shape(c, range(1, c.attrs["N"] + 1), 0), SCALAR, SCALAR]


def _concat_v2_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["N"]
    return [concat_shape(c, range(count), count), SCALAR, SCALAR]


def _reshape_shape(c: InferenceContext) -> list[TensorShape]:
    _scalars(c, 2, 3)
    return [reshape_shape(c), SCALAR, SCALAR]


def _resize_shape(c: InferenceContext) -> list[TensorShape]:
    shape = resized_shape(c)
    _scalars(c, 2, 3)
    return [shape, SCALAR, SCALAR]


def _instance_norm_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 4)
    _scalars(c, 1, 2)
    return [c.input_shape(0), SCALAR, SCALAR]


def _batch_norm_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    depth = dims[3]
    for index in (3, 6, 9, 12):
        vector = c.with_rank(index, 1).dims_tuple
        assert vector is not None
        depth = c.merge_dim(vector[0], depth)
    return [TensorShape.of((*dims[:3], depth)), SCALAR, SCALAR]


# --- ops ---------------------------------------------------------------------


def _register(
    op: str,
    inputs: list[str],
    output: str,
    attrs: list[str],
    shape_fn: Any,
    doc: str,
    bounds: tuple[str, str] | None,
) -> None:
    outputs = [output, *(f"{name}: float" for name in bounds or ())]
    register_op(
        op,
        inputs=inputs,
        outputs=outputs,
        attrs=attrs,
        shape_fn=shape_fn,
        doc=doc,
    )


def _floats(*names: str) -> list[str]:
    return [f"{name}: float" for name in names]


_TWO = [f"T1: {QUANTIZED}", f"T2: {QUANTIZED}"]
_TRANSPOSE = ["transpose_a: bool = false", "transpose_b: bool = false"]

for _op, _doc in (
    ("QuantizedAdd", "The sum of two quantized tensors."),
    ("QuantizedMul", "The product of two quantized tensors, elementwise."),
):
    _register(
        _op,
        ["x: T1", "y: T2", *_floats("min_x", "max_x", "min_y", "max_y")],
        "z: Toutput",
        [*_TWO, f"Toutput: {QUANTIZED} = DT_QINT32"],
        _binary_shape,
        _doc,
        ("min_z", "max_z"),
    )

_register(
    "QuantizedMatMul",
    ["a: T1", "b: T2", *_floats("min_a", "max_a", "min_b", "max_b")],
    "out: Toutput",
    [
        *_TWO,
        f"Toutput: {QUANTIZED} = DT_QINT32",
        *_TRANSPOSE,
        f"Tactivation: {QUANTIZED} = DT_QUINT8",
    ],
    _matmul_shape,
    "The product of two quantized matrices.",
    ("min_out", "max_out"),
)

_INPUT_MODE = "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'"
_FROZEN = _floats("min_freezed_output", "max_freezed_output")


def _register_fused_matmul(suffix: str, doc: str) -> None:
    requantized = suffix.endswith("Requantize")
    dequantized = suffix.endswith("Dequantize")
    typed = requantized or dequantized or suffix == ""
    inputs = ["a: T1", "b: T2", "bias: Tbias" if typed else "bias: float"]
    inputs += _floats("min_a", "max_a", "min_b", "max_b")
    if requantized or dequantized:
        inputs += _FROZEN
    default = "DT_QUINT8" if requantized else "DT_QINT32"
    result = "{float}" if dequantized else f"{QUANTIZED} = {default}"
    attrs = [*_TWO, *(["Tbias: {float, qint32}"] if typed else [])]
    _register(
        f"QuantizedMatMulWithBias{suffix}",
        inputs,
        "out: Toutput",
        [*attrs, f"Toutput: {result}", *_TRANSPOSE, _INPUT_MODE],
        _matmul_bias_shape,
        doc,
        None if dequantized else ("min_out", "max_out"),
    )


for _suffix, _doc in (
    ("", "A quantized matrix product plus a bias."),
    ("AndRelu", "A quantized matrix product plus a bias, rectified."),
    ("AndReluAndRequantize", "The same over a given range, in 8 bits."),
    ("AndRequantize", "A quantized product plus a bias, over a given range."),
    ("AndDequantize", "A quantized product plus a bias, as floats."),
):
    _register_fused_matmul(_suffix, _doc)

_register(
    "QuantizedBiasAdd",
    [
        "input: T1",
        "bias: T2",
        *_floats("min_input", "max_input", "min_bias", "max_bias"),
    ],
    "output: out_type",
    [*_TWO, f"out_type: {QUANTIZED}"],
    _bias_shape,
    "Adds a quantized vector to the last axis.",
    ("min_out", "max_out"),
)

for _op, _extra, _doc in (
    ("QuantizedRelu", [], "The larger of zero and each value."),
    ("QuantizedRelu6", [], "Each value clamped to [0, 6]."),
    ("QuantizedReluX", ["max_value: float"], "Each value clamped to [0, max_value]."),
):
    _register(
        _op,
        ["features: Tinput", *_extra, *_floats("min_features", "max_features")],
        "activations: out_type",
        [f"Tinput: {QUANTIZED}", f"out_type: {QUANTIZED} = DT_QUINT8"],
        with_scalar_range(*range(1, 3 + len(_extra))),
        _doc,
        ("min_activations", "max_activations"),
    )

_register(
    "QuantizedConcat",
    [
        "concat_dim: int32",
        "values: N * T",
        "input_mins: N * float",
        "input_maxes: N * float",
    ],
    "output: T",
    ["N: int >= 2", "T: type"],
    _concat_shape,
    "Joins quantized tensors over a range that holds all of theirs.",
    ("output_min", "output_max"),
)

_register(
    "QuantizedConcatV2",
    ["values: N * T", "axis: Tidx", "input_mins: N * float", "input_maxes: N * float"],
    "output: T",
    ["N: int >= 2", "T: type", "Tidx: {int32, int64} = DT_INT32"],
    _concat_v2_shape,
    "QuantizedConcat with the axis behind the values.",
    ("output_min", "output_max"),
)

_register(
    "QuantizedReshape",
    ["tensor: T", "shape: Tshape", *_floats("input_min", "input_max")],
    "output: T",
    ["T: type", "Tshape: {int32, int64} = DT_INT32"],
    _reshape_shape,
    "A quantized tensor with another shape.",
    ("output_min", "output_max"),
)

_register(
    "QuantizedResizeBilinear",
    ["images: T", "size: int32", *_floats("min", "max")],
    "resized_images: T",
    [
        "T: {quint8, qint32, float}",
        "align_corners: bool = false",
        "half_pixel_centers: bool = false",
    ],
    _resize_shape,
    "Quantized images of another size.",
    ("out_min", "out_max"),
)

_register(
    "QuantizedInstanceNorm",
    ["x: T", *_floats("x_min", "x_max")],
    "y: T",
    [
        f"T: {QUANTIZED}",
        "output_range_given: bool = false",
        "given_y_min: float = 0.0",
        "given_y_max: float = 0.0",
        "variance_epsilon: float = 1e-05",
        "min_separation: float = 0.001",
    ],
    _instance_norm_shape,
    "Quantized images with mean 0 and variance 1 in each channel.",
    ("y_min", "y_max"),
)

_register(
    "QuantizedBatchNormWithGlobalNormalization",
    [
        text
        for name in ("t", "m", "v", "beta", "gamma")
        for text in (f"{name}: Tinput", f"{name}_min: float", f"{name}_max: float")
    ],
    "result: out_type",
    [
        f"Tinput: {QUANTIZED}",
        f"out_type: {QUANTIZED}",
        "variance_epsilon: float",
        "scale_after_normalization: bool",
    ],
    _batch_norm_shape,
    "Batch normalization of quantized images.",
    ("result_min", "result_max"),
)

# --- builders ----------------------------------------------------------------


@export("quantized_concat", "quantization.quantized_concat")
def quantized_concat(
    concat_dim: Any,
    values: Any,
    input_mins: Any,
    input_maxes: Any,
    name: str | None = None,
) -> Any:
    """(output, output_min, output_max): quantized tensors joined along an axis."""
    return apply_op(
        "QuantizedConcat",
        concat_dim=concat_dim,
        values=values,
        input_mins=input_mins,
        input_maxes=input_maxes,
        name=name,
    )


@export("nn.quantized_relu_x")
def quantized_relu_x(
    features: Any,
    max_value: Any,
    min_features: Any,
    max_features: Any,
    out_type: Any = dtypes.quint8,
    name: str | None = None,
) -> Any:
    """(activations, min, max): quantized features clamped to [0, max_value]."""
    return apply_op(
        "QuantizedReluX",
        features=features,
        max_value=max_value,
        min_features=min_features,
        max_features=max_features,
        out_type=out_type,
        name=name,
    )
