"""Specs of AvgPool3DGrad, FractionalAvgPoolGrad, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.window_gradients import (
    drawn_image,
    drawn_moves,
    drawn_volume,
)


def _avg_pool3d_gradient(d: Draw) -> Any:
    shape = drawn_volume(d)
    window, strides, padding, out = drawn_moves(d, shape)
    return call(
        K(list(shape), "int32"),
        d.array((*out, shape[-1])),
        ksize=[1, *window, 1],
        strides=[1, *strides, 1],
        padding=padding,
    )


def _max_pool3d_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = drawn_volume(d)
    window, strides, padding, out = drawn_moves(d, shape)
    attrs: dict[str, Any] = {
        "ksize": [1, *window, 1],
        "strides": [1, *strides, 1],
        "padding": padding,
    }
    volume = p.feed(d.array(shape, distinct=True))
    pooled = p.op("MaxPool3D", volume, **attrs)
    back = (*out, shape[-1]) if d.op == "MaxPool3DGrad" else shape
    p.run(p.op(d.op, volume, pooled, p.feed(d.array(back)), **attrs))
    return p


spec("AvgPool3DGrad", _avg_pool3d_gradient, attr="T", mutate=("dtype",))


spec("MaxPool3DGrad", _max_pool3d_gradient, attr="T", mutate=("dtype",))


spec(
    "MaxPool3DGradGrad",
    _max_pool3d_gradient,
    types=["float16", "float32", "float64", "bfloat16"],
    mutate=("dtype",),
)


def _fractional_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    kind = d.op.removesuffix("Grad")
    shape = drawn_image(d)
    image = p.feed(d.array(shape, distinct=True))
    overlapping = d.maybe(0.5)
    pooled = p.op(
        kind,
        image,
        pooling_ratio=[1.0, 1.44, 1.73, 1.0],
        overlapping=overlapping,
        deterministic=True,
        seed=3,
        seed2=5,
    )
    back = p.op("OnesLike", pooled)
    if kind == "FractionalMaxPool":
        given = [image, pooled[0], back, pooled[1], pooled[2]]
    else:
        given = [p.const(list(shape), "int64"), back, pooled[1], pooled[2]]
    p.run(p.op(d.op, *given, overlapping=overlapping))
    return p


spec(
    "FractionalMaxPoolGrad FractionalAvgPoolGrad",
    _fractional_gradient,
    mutate=("dtype",),
)


def _max_pool_second(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = drawn_image(d)
    window, strides, padding, _ = drawn_moves(d, shape)
    sizes = {"ksize": [1, *window, 1], "strides": [1, *strides, 1]}
    image = p.feed(d.array(shape, distinct=True))
    back = p.feed(d.array(shape))
    pooled = p.op("MaxPool", image, padding=padding, **sizes)
    given = [p.const(one, "int32") for one in sizes.values()]
    p.run(p.op(d.op, image, pooled, back, *given, padding=padding))
    return p


spec("MaxPoolGradGradV2", _max_pool_second, attr="T", mutate=("dtype",))
