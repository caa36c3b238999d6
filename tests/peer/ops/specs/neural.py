"""Convolutions, pools, normalization, softmax, losses, top k."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

FLOATS = ["float16", "float32", "float64"]
SUMS = Tolerance(2e-5, 4e-6, "products are added up in another order", widened=6)


# --- convolutions ---------------------------------------------------------------


def window(d: Draw) -> dict[str, Any]:
    """Geometry of a convolution: sizes of input, filter and output."""
    padding = d.choice(["SAME", "VALID", "EXPLICIT"])
    stride = d.integer(1, 2)
    dilation = d.integer(1, 2) if stride == 1 else 1
    kernel = [d.integer(1, 3), d.integer(1, 3)]
    image = [d.integer(5, 7), d.integer(5, 7)]
    pads = [
        [d.integer(0, 1), d.integer(0, 1)] if padding == "EXPLICIT" else [0, 0]
        for _ in range(2)
    ]
    out = []
    for size, k, p in zip(image, kernel, pads, strict=True):
        reach = (k - 1) * dilation + 1
        if padding == "SAME":
            out.append(-(-size // stride))
        else:
            out.append((size + sum(p) - reach) // stride + 1)
    attrs: dict[str, Any] = {
        "strides": [1, stride, stride, 1],
        "padding": padding,
        "dilations": [1, dilation, dilation, 1],
    }
    if padding == "EXPLICIT":
        attrs["explicit_paddings"] = [0, 0, *pads[0], *pads[1], 0, 0]
    return {
        "image": image,
        "kernel": kernel,
        "out": out,
        "attrs": attrs,
        "n": d.integer(1, 2),
        "c": d.integer(1, 3),
        "m": d.integer(1, 3),
    }


def conv2d(d: Draw) -> Any:
    g = window(d)
    return call(
        d.array((g["n"], *g["image"], g["c"])),
        d.array((*g["kernel"], g["c"], g["m"])),
        **g["attrs"],
    )


def conv2d_filter(d: Draw) -> Any:
    g = window(d)
    attrs = undilated(g)
    sizes = K(np.array([*g["kernel"], g["c"], g["m"]], np.int32))
    return call(
        d.array((g["n"], *g["image"], g["c"])),
        sizes,
        d.array((g["n"], *g["out"], g["m"])),
        **attrs,
    )


def conv2d_input(d: Draw) -> Any:
    g = window(d)
    attrs = undilated(g)
    sizes = K(np.array([g["n"], *g["image"], g["c"]], np.int32))
    return call(
        sizes,
        d.array((*g["kernel"], g["c"], g["m"])),
        d.array((g["n"], *g["out"], g["m"])),
        **attrs,
    )


def undilated(g: dict[str, Any]) -> dict[str, Any]:
    """TensorFlow's backward kernels on the CPU do not dilate: the output is larger."""
    attrs = dict(g["attrs"])
    if attrs["dilations"][1] != 1:
        attrs["dilations"] = [1, 1, 1, 1]
        pads = attrs.get("explicit_paddings", [0] * 8)
        for i in range(2):
            if attrs["padding"] != "SAME":
                total = pads[2 + 2 * i] + pads[3 + 2 * i]
                g["out"][i] = g["image"][i] + total - g["kernel"][i] + 1
    return attrs


def conv_wrong(d: Draw) -> Any:
    return call(
        d.array((1, 4, 4, 2)),
        d.array((2, 2, 3, 1)),
        strides=[1, 1, 1, 1],
        padding="SAME",
    )


def conv_bad_stride(d: Draw) -> Any:
    return call(
        d.array((1, 4, 4, 2)),
        d.array((2, 2, 2, 1)),
        strides=[2, 1, 1, 1],
        padding="SAME",
    )


def conv_too_small(d: Draw) -> Any:
    return call(
        d.array((1, 2, 2, 2)),
        d.array((3, 3, 2, 1)),
        strides=[1, 1, 1, 1],
        padding="VALID",
    )


GEOMETRY = ("rank", "dtype")
spec(
    "Conv2D",
    conv2d,
    types=FLOATS,
    tolerance=SUMS,
    mutate=GEOMETRY,
    examples=4,
    bad=(conv_wrong, conv_bad_stride, conv_too_small),
)
spec(
    "Conv2DBackpropFilter",
    conv2d_filter,
    types=FLOATS,
    tolerance=SUMS,
    mutate=GEOMETRY,
    gradient=True,
)
spec("Conv2DBackpropInput", conv2d_input, types=FLOATS, tolerance=SUMS, mutate=GEOMETRY)


def depthwise_geometry(d: Draw) -> dict[str, Any]:
    g = window(d)
    while g["attrs"]["padding"] == "EXPLICIT" or g["attrs"]["dilations"][1] != 1:
        g = window(d)
    return g


def depthwise(d: Draw) -> Any:
    g = depthwise_geometry(d)
    return call(
        d.array((g["n"], *g["image"], g["c"])),
        d.array((*g["kernel"], g["c"], g["m"])),
        **g["attrs"],
    )


def depthwise_filter(d: Draw) -> Any:
    g = depthwise_geometry(d)
    sizes = K(np.array([*g["kernel"], g["c"], g["m"]], np.int32))
    grad = d.array((g["n"], *g["out"], g["c"] * g["m"]))
    return call(d.array((g["n"], *g["image"], g["c"])), sizes, grad, **g["attrs"])


def depthwise_input(d: Draw) -> Any:
    g = depthwise_geometry(d)
    sizes = K(np.array([g["n"], *g["image"], g["c"]], np.int32))
    grad = d.array((g["n"], *g["out"], g["c"] * g["m"]))
    return call(sizes, d.array((*g["kernel"], g["c"], g["m"])), grad, **g["attrs"])


spec("DepthwiseConv2dNative", depthwise, types=FLOATS, tolerance=SUMS, mutate=GEOMETRY)
spec(
    "DepthwiseConv2dNativeBackpropFilter",
    depthwise_filter,
    types=FLOATS,
    tolerance=SUMS,
    mutate=GEOMETRY,
)
spec(
    "DepthwiseConv2dNativeBackpropInput",
    depthwise_input,
    types=FLOATS,
    tolerance=SUMS,
    mutate=GEOMETRY,
)

# --- bias -----------------------------------------------------------------------


def bias(d: Draw) -> Any:
    shape = d.shape(2, 4)
    form = d.choice(["NHWC", "NCHW"]) if len(shape) > 2 else "NHWC"
    if form == "NCHW" and len(shape) == 3:
        shape = (*shape, 2)
    channels = shape[1] if form == "NCHW" else shape[-1]
    program = Program(
        differentiate=form == "NHWC"
    )  # TensorFlow's sums for NCHW are garbage
    program.run(
        program.op(d.op, d.array(shape), d.array((channels,)), data_format=form)
    )
    return program


def bias_v1(d: Draw) -> Any:
    shape = d.shape(2, 4)
    return d.array(shape), d.array(shape[-1:])


def bias_grad(d: Draw) -> Any:
    # TensorFlow 1.15 reads beyond the sums of NCHW tensors of less than four axes.
    form = d.choice(["NHWC", "NCHW"])
    return call(d.array(d.shape(2 if form == "NHWC" else 4, 4)), data_format=form)


Q = ["qint8", "quint8", "qint32"]
spec("BiasAdd", bias, tolerance=SUMS, without=Q)
spec("BiasAddV1", bias_v1, tolerance=SUMS, without=Q)
spec("BiasAddGrad", bias_grad, tolerance=SUMS, without=Q, mutate=("size", "dtype"))

# --- pools ----------------------------------------------------------------------


def pool_window(d: Draw) -> tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]:
    padding = d.choice(["SAME", "VALID"])
    size, stride = [d.integer(1, 3), d.integer(1, 3)], d.integer(1, 2)
    image = [d.integer(3, 6), d.integer(3, 6)]
    n, c = d.integer(1, 2), d.integer(1, 3)
    out = [
        -(-i // stride) if padding == "SAME" else (i - k) // stride + 1
        for i, k in zip(image, size, strict=True)
    ]
    attrs = {
        "ksize": [1, *size, 1],
        "strides": [1, stride, stride, 1],
        "padding": padding,
    }
    return attrs, (n, *image, c), (n, *out, c)


def pool(d: Draw) -> Any:
    attrs, shape, _ = pool_window(d)
    return call(d.array(shape, distinct=d.dtype.is_floating), **attrs)


def max_pool_v2(d: Draw) -> Any:
    attrs, shape, _ = pool_window(d)
    return call(
        d.array(shape),
        K(attrs["ksize"], "int32"),
        K(attrs["strides"], "int32"),
        padding=attrs["padding"],
    )


def avg_pool_grad(d: Draw) -> Any:
    attrs, shape, out = pool_window(d)
    return call(K(np.array(shape, np.int32)), d.array(out), **attrs)


def pool_result(x: Any, attrs: dict[str, Any], out: tuple[int, ...]) -> Any:
    """NumPy's max pool."""
    (kh, kw), stride = attrs["ksize"][1:3], attrs["strides"][1]
    pads = []
    for size, k, o in zip(x.shape[1:3], (kh, kw), out[1:3], strict=True):
        total = max((o - 1) * stride + k - size, 0) if attrs["padding"] == "SAME" else 0
        pads.append((total // 2, total - total // 2))
    wide = np.pad(
        x.astype(np.float64), [(0, 0), *pads, (0, 0)], constant_values=-np.inf
    )
    result = np.empty(out)
    for i in range(out[1]):
        for j in range(out[2]):
            patch = wide[:, i * stride : i * stride + kh, j * stride : j * stride + kw]
            result[:, i, j] = patch.max((1, 2))
    return result.astype(x.dtype)


def max_pool_grad(d: Draw) -> Any:
    attrs, shape, out = pool_window(d)
    x = d.array(shape, distinct=True)
    grad = d.array(shape if d.op == "MaxPoolGradGrad" else out)
    return call(x, pool_result(x, attrs, out), grad, **attrs)


def max_pool_grad_v2(d: Draw) -> Any:
    made = max_pool_grad(d)
    attrs = made.attrs
    return call(
        *made.inputs,
        K(attrs["ksize"], "int32"),
        K(attrs["strides"], "int32"),
        padding=attrs["padding"],
    )


def with_argmax(d: Draw) -> Any:
    attrs, shape, _ = pool_window(d)
    return call(d.array(shape, distinct=True), **attrs, Targmax="int64")


spec(
    "MaxPool",
    pool,
    mutate=GEOMETRY,
    without=Q,
    bad=(
        lambda d: call(
            d.array((1, 2, 2, 1)),
            ksize=[1, 3, 3, 1],
            strides=[1, 1, 1, 1],
            padding="VALID",
        ),
    ),
)
spec("MaxPoolV2", max_pool_v2, mutate=("dtype",), without=Q)
spec("AvgPool", pool, mutate=GEOMETRY, tolerance=SUMS)
spec("AvgPoolGrad", avg_pool_grad, mutate=("dtype",), tolerance=SUMS)
spec(
    "MaxPoolGrad",
    max_pool_grad,
    mutate=("dtype",),
    types=["float16", "bfloat16", "float32", "float64", "int32"],
)
spec("MaxPoolGradGrad", max_pool_grad, mutate=("dtype",), types=["float32", "float64"])
spec(
    "MaxPoolGradV2",
    max_pool_grad_v2,
    mutate=("dtype",),
    types=["float16", "float32", "float64"],
)
spec("MaxPoolWithArgmax", with_argmax, mutate=GEOMETRY)


def max_pool_argmax_grad(d: Draw) -> Any:
    x = d.array((1, 4, 4, 2))
    argmax = np.arange(8).reshape(1, 2, 2, 2) * 4 + 1
    return call(
        x,
        d.array((1, 2, 2, 2)),
        argmax,
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )


spec("MaxPoolGradWithArgmax", max_pool_argmax_grad, mutate=("dtype",))

# --- normalization --------------------------------------------------------------


def lrn_attrs(d: Draw) -> dict[str, Any]:
    return {
        "depth_radius": d.integer(1, 3),
        "bias": 1.5,
        "alpha": 0.3,
        "beta": d.choice([0.5, 0.75, 1.0]),
    }


LRNS = Tolerance(5e-5, 1e-5, "powers of sums, in another order", widened=4)
spec(
    "LRN",
    lambda d: call(d.array((2, 2, 3, 5)), **lrn_attrs(d)),
    tolerance=LRNS,
    mutate=("dtype", "empty"),
)
spec(
    "LRNGrad",
    lambda d: call(*(d.array((2, 2, 3, 5)) for _ in range(3)), **lrn_attrs(d)),
    tolerance=LRNS,
    mutate=("dtype",),
)
NORMS = Tolerance(
    1e-4, 1e-5, "means and variances are added up in another order", widened=4
)


def batch_norm(d: Draw) -> Any:
    shape = (d.integer(2, 3), d.integer(1, 3), d.integer(2, 3), d.integer(1, 3))
    training = d.maybe()
    kind = "float32" if d.op != "FusedBatchNorm" else d.dtype
    scale, offset = (d.array(shape[-1:], dtype=kind) for _ in range(2))
    mean, variance = (
        d.array((0,) if training else shape[-1:], dtype=kind, low=1, high=3)
        for _ in range(2)
    )
    return call(
        d.array(shape),
        scale,
        offset,
        mean,
        variance,
        epsilon=0.01,
        is_training=training,
    )


def gradient_outputs(arrays: list[Any]) -> list[Any]:
    """Without the two that are empty."""
    return arrays[:3]


def batch_norm_grad(d: Draw) -> Any:
    shape = (d.integer(2, 3), d.integer(1, 3), d.integer(2, 3), d.integer(1, 3))
    kind = "float32" if d.op != "FusedBatchNormGrad" else d.dtype
    parts = [
        d.array(shape[-1:], dtype=kind, low=1, high=3)
        for _ in range(4 if d.op.endswith("V3") else 3)
    ]
    return call(
        d.array(shape), d.array(shape), *parts, epsilon=0.01, is_training=d.maybe()
    )


def first_outputs(arrays: list[Any]) -> list[Any]:
    """Without the outputs that are reserved for the gradient, or left as they were
    found: without training, mean and variance are not written."""
    return arrays[:1]


spec(
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    batch_norm,
    tolerance=NORMS,
    mutate=("dtype",),
    canonical=first_outputs,
)
spec(
    "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
    batch_norm_grad,
    tolerance=NORMS,
    mutate=("dtype",),
    canonical=gradient_outputs,
)

# --- softmax and losses ---------------------------------------------------------


def logits(d: Draw) -> Any:
    return (d.array(d.shape(1, 3)),)


def cross_entropy(d: Draw) -> Any:
    shape = d.shape(2, 2)
    return d.array(shape), d.array(shape if d.maybe() else (1, shape[1]), low=0, high=1)


def sparse_cross_entropy(d: Draw) -> Any:
    rows, classes = d.integer(0, 4), d.integer(1, 4)
    return d.array((rows, classes)), d.indices((rows,), classes)


spec("Softmax LogSoftmax", logits, tolerance=SUMS)
spec(
    "SoftmaxCrossEntropyWithLogits",
    cross_entropy,
    tolerance=SUMS,
    mutate=("size", "empty", "dtype"),
)
spec(
    "SparseSoftmaxCrossEntropyWithLogits",
    sparse_cross_entropy,
    tolerance=SUMS,
    bad=(
        lambda d: (d.array((2, 3)), np.array([0, 3], np.int32)),
        lambda d: (d.array((2, 3)), np.array([0, -1], np.int64)),
    ),
)
spec("L2Loss", lambda d: (d.array(),), tolerance=SUMS)


def top_k(d: Draw) -> Any:
    shape = d.shape(1, 3, empty=0)
    k = d.integer(0, shape[-1])
    x = d.array(shape)
    if d.op == "TopK":
        return call(x, k=k, sorted=True)
    return call(x, K(k, "int32"), sorted=True)


spec("TopK", top_k, producer=6, mutate=("size", "empty", "dtype"))


def top_k_of_nan(d: Draw) -> Any:
    x = d.array((4, d.choice([5, 9, 40])))
    if d.dtype.is_floating:
        x[d.rng.random(x.shape) < 0.3] = np.nan
    k = d.choice([1, 2, x.shape[1] // 2, x.shape[1]])
    return call(x, K(k, "int32"), sorted=True)


spec(
    "TopKV2",
    top_k,
    bad=(
        lambda d: (d.array((2, 3)), K(4, "int32")),
        top_k_of_nan,
        top_k_of_nan,
        top_k_of_nan,
    ),
)


def in_top_k(d: Draw) -> Any:
    rows, classes = d.integer(0, 4), d.integer(1, 5)
    predictions = d.array((rows, classes), dtype="float32")
    targets = d.indices((rows,), classes, d.dtype.np_dtype)
    if d.op == "InTopK":
        return call(predictions, targets, k=d.integer(1, 3))
    return call(predictions, targets, K(np.asarray(d.integer(1, 3), d.dtype.np_dtype)))


spec("InTopK InTopKV2", in_top_k)
