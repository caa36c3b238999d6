"""Specs of Conv2D, Conv2DBackpropFilter, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.geometry import GEOMETRY, SUMS

FLOATS = ["float16", "float32", "float64"]


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
