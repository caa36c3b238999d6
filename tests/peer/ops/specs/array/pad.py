"""Specs of MirrorPad, MirrorPadGrad, Pad, PadV2."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import rank_of


def pad(d: Draw) -> tuple[Any, Any]:
    x = d.array(d.shape(0, 4))
    return x, K(d.rng.integers(0, 3, (rank_of(x), 2)).astype(d.index_type()))


spec(
    "Pad",
    pad,
    bad=(
        lambda d: (d.array((2,)), K([[-1, 0]], "int32")),
        lambda d: (d.array((2,)), K([[1, 0], [1, 1]], "int32")),
    ),
)


spec("PadV2", lambda d: (*pad(d), d.array(())))


def mirror(d: Draw) -> Any:
    mode = d.choice(["REFLECT", "SYMMETRIC"])
    shape = d.shape(1, 4, empty=0)
    most = [s - (mode == "REFLECT") for s in shape]
    paddings = [[d.integer(0, m), d.integer(0, m)] for m in most]
    return call(d.array(shape), K(np.array(paddings, d.index_type())), mode=mode)


def mirror_grad(d: Draw) -> Any:
    mode = d.choice(["REFLECT", "SYMMETRIC"])
    shape = d.shape(1, 3, empty=0)
    most = [s - (mode == "REFLECT") for s in shape]
    paddings = np.array([[d.integer(0, m), d.integer(0, m)] for m in most], np.int32)
    padded = [s + int(p.sum()) for s, p in zip(shape, paddings, strict=True)]
    return call(d.array(padded), K(paddings), mode=mode)


spec(
    "MirrorPad",
    mirror,
    bad=(lambda d: call(d.array((2,)), K([[2, 0]], "int32"), mode="REFLECT"),),
)


spec("MirrorPadGrad", mirror_grad)
