"""Specs of AvgPool, AvgPoolGrad, MaxPool, MaxPoolGrad, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.geometry import GEOMETRY, SUMS, Q

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
