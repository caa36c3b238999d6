"""Specs of AudioSummary, TensorSummary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.text import bytes_of


def _audio(d: Draw) -> Any:
    sound = d.array((2, 5, 2), dtype="float32", low=-1, high=1)
    tag = bytes_of("tag")
    if d.op.endswith("V2"):
        return call(tag, sound, np.float32(8000), max_outputs=2)
    return call(tag, sound, sample_rate=8000.0, max_outputs=2)


spec("AudioSummary", _audio, types=(), mutate=("rank", "dtype"), producer=14)


def _without_node(arrays: list[Any]) -> list[Any]:
    """The summary tells the name of its node, which each case has its own of."""
    from tensorloom.protos import summary_pb2

    summary = summary_pb2.Summary.FromString(bytes(arrays[0].item()))
    for value in summary.value:
        value.node_name = ""
    return [np.array(summary.SerializeToString(deterministic=True), object)]


spec(
    "TensorSummary",
    lambda d: (d.array(),),
    types=["float32", "int32", "string"],
    canonical=_without_node,
    mutate=("dtype",),
)
