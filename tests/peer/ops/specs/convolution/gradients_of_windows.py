"""Specs of BatchNormWithGlobalNormalization, BatchNormWithGlobalNormalizationGrad, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.draw import K
from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.shared.window_gradients import (
    PADDINGS,
    drawn_image,
    drawn_moves,
    drawn_volume,
)

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


# --- volumes -----------------------------------------------------------------


def _conv3d_gradient(d: Draw) -> Any:
    shape = drawn_volume(d)
    window, strides, padding, out = drawn_moves(d, shape)
    depth = d.integer(1, 3)
    filters = (*window, shape[-1], depth)
    back = d.array((*out, depth))
    attrs: dict[str, Any] = {"strides": [1, *strides, 1], "padding": padding}
    if "Filter" in d.op:
        second = K(list(filters), "int32") if d.op.endswith("V2") else d.array(filters)
        return call(d.array(shape), second, back, **attrs)
    first = K(list(shape), "int32") if d.op.endswith("V2") else d.array(shape)
    return call(first, d.array(filters), back, **attrs)


spec(
    "Conv3DBackpropFilterV2 Conv3DBackpropInputV2",
    _conv3d_gradient,
    attr="T",
    tolerance=_PRODUCTS,
    mutate=("dtype",),
)


spec(
    "Conv3DBackpropFilter Conv3DBackpropInput",
    _conv3d_gradient,
    attr="T",
    tolerance=_PRODUCTS,
    mutate=("dtype",),
    producer=9,
)


# --- images ------------------------------------------------------------------


def _dilation_gradient(d: Draw) -> Any:
    shape = drawn_image(d)
    window, strides, padding, out = drawn_moves(d, shape)
    return call(
        d.array(shape),
        d.array((*window, shape[-1])),
        d.array((*out, shape[-1])),
        strides=[1, *strides, 1],
        rates=[1, 1, 1, 1],
        padding=padding,
    )


spec(
    "Dilation2DBackpropFilter Dilation2DBackpropInput",
    _dilation_gradient,
    gradient=False,
    mutate=("rank", "dtype"),
)


def _fused_pad(d: Draw) -> Any:
    # One image: TensorFlow takes the first one's padding for all.
    shape = (1, *drawn_image(d, 2)[1:])
    pads = [[0, 0], [d.integer(0, 2), d.integer(0, 2)], [1, 0], [0, 0]]
    filters = d.array((2, 3, 2, 2))
    attrs: dict[str, Any] = {
        "mode": d.choice(("REFLECT", "SYMMETRIC")),
        "strides": [1, d.integer(1, 2), 1, 1],
        "padding": d.choice(PADDINGS),
    }
    attrs["strides"][2] = attrs["strides"][1]
    if "Resize" in d.op:
        size = K([d.integer(4, 9), d.integer(4, 9)], "int32")
        aligned = d.maybe(0.5)
        return call(
            d.array(shape),
            size,
            K(pads, "int32"),
            filters,
            resize_align_corners=aligned,
            **attrs,
        )
    return call(d.array(shape), K(pads, "int32"), filters, **attrs)


spec(
    "FusedPadConv2D FusedResizeAndPadConv2D",
    _fused_pad,
    gradient=False,
    tolerance=_PRODUCTS,
    mutate=("dtype",),
    known={"shapes": "TensorFlow's shape function refuses images of unknown rank"},
)


def _batch_norm(d: Draw) -> Any:
    t = d.array((2, 3, 3, 4))
    m, beta, gamma = (d.array((4,)) for _ in range(3))
    v = d.array((4,), low=0.5, high=2)
    attrs = {"variance_epsilon": 0.01, "scale_after_normalization": d.maybe(0.5)}
    if d.op.endswith("Grad"):
        return call(t, m, v, gamma, d.array((2, 3, 3, 4)), **attrs)
    return call(t, m, v, beta, gamma, **attrs)


spec(
    "BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad",
    _batch_norm,
    types=["float16", "float32", "float64"],
    tolerance=Tolerance(1e-4, 1e-5, "rsqrt and sums", widened=4),
    mutate=("dtype",),
    producer=8,
)
