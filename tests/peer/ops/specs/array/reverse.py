"""Specs of Reverse, ReverseSequence, ReverseV2, Roll."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import rank_of


def reverse_v2(d: Draw) -> Any:
    x = d.array()
    return x, K(np.array(d.axes(rank_of(x)), d.index_type()))


spec(
    "ReverseV2",
    reverse_v2,
    mutate=("size", "dtype", "integer"),
    bad=(
        lambda d: (d.array((2, 3)), K([2], "int32")),
        lambda d: (d.array((2, 3)), K([1, -1], "int32")),
    ),
)


spec("Reverse", lambda d: reverse(d), mutate=("size", "dtype"))


def reverse(d: Draw) -> Any:
    x = d.array()
    return x, K(d.rng.random(rank_of(x)) < 0.5)


def reverse_sequence(d: Draw) -> Any:
    shape = list(d.shape(2, 4, empty=0))
    axes = d.rng.permutation(len(shape))
    seq, batch = int(axes[0]), int(axes[1])
    lengths = d.rng.integers(0, shape[seq] + 1, shape[batch]).astype(d.index_type())
    return call(d.array(shape), lengths, seq_dim=seq, batch_dim=batch)


spec(
    "ReverseSequence",
    reverse_sequence,
    bad=(
        lambda d: call(
            d.array((2, 3)), np.array([4, 1], np.int32), seq_dim=1, batch_dim=0
        ),
    ),
)


def roll(d: Draw) -> Any:
    x = d.array(d.shape(1, 4))
    axes = np.array(d.axes(rank_of(x)) or [0], d.index_type())
    return x, d.rng.integers(-5, 6, axes.shape).astype(d.index_type()), axes


spec(
    "Roll",
    roll,
    bad=(lambda d: (d.array((2, 3)), np.array(1, np.int32), np.array(2, np.int32)),),
)
