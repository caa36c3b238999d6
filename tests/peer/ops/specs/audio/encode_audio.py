"""Specs of EncodeAudio, EncodeAudioV2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec, scalar_input


def _written(d: Draw, rate: int = 8000, kind: str = "wav") -> Any:
    sound = d.array((d.integer(0, 5), d.integer(1, 3)), "float32", low=-2, high=2)
    if d.op == "EncodeAudio":
        return call(sound, file_format=kind, samples_per_second=rate)
    text = np.array(kind.encode(), object)
    return (sound, text, scalar_input(rate), scalar_input(192000))


alone_spec(
    "EncodeAudio EncodeAudioV2",
    _written,
    types=(),
    mutate=("rank", "dtype"),
    bad=(lambda d: _written(d, rate=-1), lambda d: _written(d, kind="mp3")),
)
