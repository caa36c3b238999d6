"""Ops that make one value of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.program import Unexportable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site

_REDUCTIONS: Final = {
    "Max": "ReduceMax",
    "Mean": "ReduceMean",
    "Min": "ReduceMin",
    "Prod": "ReduceProd",
    "Sum": "ReduceSum",
}
_KINDS: Final = {"All": "ReduceMin", "Any": "ReduceMax"}


@builder(*_REDUCTIONS)
def _reduction(site: Site) -> str:
    return _reduced(site, _REDUCTIONS[site.node.op], site[0])


def _reduced(site: Site, op: str, value: str) -> str:
    keeps = int(site.attr("keep_dims"))
    axes = site.static(1)
    if axes is not None:
        if np.size(axes) == 0:
            return value
        axes_name = site.value(np.atleast_1d(axes), np.int64)
    else:
        # Without axes TensorFlow reduces nothing.
        axes_name = site.op("Reshape", site.int64(1), site.ints(-1))
    return site.op(op, value, axes_name, keepdims=keeps, noop_with_empty_axes=1)


@builder(*_KINDS)
def _of_truths(site: Site) -> str:
    numbers = site.cast(site[0], dtypes.int32)
    return site.cast(_reduced(site, _KINDS[site.node.op], numbers), dtypes.bool)


@builder("ArgMax", "ArgMin")
def _arg(site: Site) -> str:
    axis = int(site.constant(1, "axis"))
    found = site.op(site.node.op, site[0], axis=axis, keepdims=0)
    return found if site.dtype() == dtypes.int64 else site.cast(found, site.dtype())


@builder("Cumsum")
def _cumsum(site: Site) -> str:
    return site.op(
        "CumSum",
        site[0],
        site.op("Reshape", site.int64(1), site.value([], np.int64)),
        exclusive=int(site.attr("exclusive")),
        reverse=int(site.attr("reverse")),
    )


@builder("Softmax", "LogSoftmax")
def _softmax(site: Site) -> str:
    return site.op(site.node.op, site[0], axis=-1)


@builder("L2Loss")
def _l2_loss(site: Site) -> str:
    total = site.op("ReduceSumSquare", site[0], keepdims=0)
    return site.op("Mul", total, site.like(0.5, site.dtype()))


@builder("TopK", "TopKV2")
def _top_k(site: Site) -> list[str]:
    if site.node.op == "TopK":
        count = site.ints(site.attr("k"))
    else:
        count = site.op("Reshape", site.int64(1), site.ints(1))
    values, places = site.ops(
        "TopK", site[0], count, outputs=2, axis=-1, largest=1, sorted=1
    )
    return [values, site.cast(places, dtypes.int32)]


@builder("InTopK", "InTopKV2")
def _in_top_k(site: Site) -> str:
    raise Unexportable("ONNX has no op that counts larger scores")
