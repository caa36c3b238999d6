"""Specs of AdjustHsvInYiq, BipartiteMatch, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance, call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec, scalar_input


def _projected(d: Draw) -> Any:
    row = [1.1, 0.1, 0.2, -0.1, 0.9, 0.3, 0.01, 0.02]
    rows = np.array([row] * d.integer(1, 2), np.float32)
    return call(
        d.array((2, 5, 6, 2)), rows, interpolation=d.choice(("NEAREST", "BILINEAR"))
    )


alone_spec(
    "ImageProjectiveTransform",
    _projected,
    tolerance=Tolerance(1e-4, 1e-5, "interpolation"),
    mutate=("rank", "dtype"),
)


alone_spec(
    "BipartiteMatch",
    lambda d: call(
        d.array((d.integer(1, 6), d.integer(1, 6)), "float32", low=0, high=4).round(),
        np.float32(d.choice((-1, 0, 1))),
        top_k=d.choice((-1, 2)),
    ),
    types=(),
    examples=8,
    mutate=("rank", "dtype"),
    bad=(
        lambda d: (np.zeros((2, 2), np.float32), np.float32(3)),
        lambda d: (np.zeros((2, 2), np.float32), np.ones(2, np.float32)),
        lambda d: (np.zeros(2, np.float32), np.float32(1)),
    ),
)


def _areas(d: Draw) -> Any:
    picked = d.rng.integers(0, 3, (d.integer(1, 2), d.integer(1, 9), d.integer(1, 9)))
    if d.dtype.name == "string":
        return (np.array([b"", b"a", b"b"], object)[picked],)
    return (picked.astype(d.dtype.as_numpy_dtype),)


alone_spec("ImageConnectedComponents", _areas, mutate=("rank", "dtype", "empty"))


alone_spec(
    "AdjustHsvInYiq",
    lambda d: (
        d.array((2, 3, 3), low=0, high=1),
        scalar_input(d.rng.uniform(-4, 4), np.float32),
        scalar_input(d.rng.uniform(0, 2), np.float32),
        scalar_input(d.rng.uniform(0, 2), np.float32),
    ),
    types=["float32"],
    mutate=("rank", "dtype"),
    bad=(lambda d: (d.array((2, 3, 4)), *[np.float32(1)] * 3),),
)


def _stereogram(d: Draw) -> Any:
    return call(
        d.array((3, 4), low=0, high=5),
        number_colors=d.choice((2, 256, 300)),
        output_image_shape=(20, 12, 1),
        output_data_window=(18, 8),
        convergence_dots_size=d.choice((0, 2)),
        eye_separation=0.2,
        hidden_surface_removal=d.choice((True, False)),
    )


def _shapes(arrays: list[Any]) -> list[Any]:
    """The dots are random: a program of its own compares them in new processes."""
    return [np.shape(one) for one in arrays]


alone_spec(
    "SingleImageRandomDotStereograms",
    _stereogram,
    types=["float32", "float64", "int32", "int64"],
    mutate=("dtype",),
    canonical=_shapes,
)
