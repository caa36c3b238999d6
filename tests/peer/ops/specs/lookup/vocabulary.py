"""Specs of GenerateVocabRemapping."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.folder import FOLDER


def _vocabulary(words: Any) -> Any:
    data = b"".join(b"w%d\n" % word for word in words)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"words-{zlib.crc32(data):08x}"
    path.write_bytes(data)
    return np.array(str(path).encode(), object)


def _remapped(d: Draw) -> Any:
    new, old = d.rng.permutation(9), d.rng.permutation(12)[: d.integer(0, 9)]
    offset = d.integer(0, 4)
    return call(
        K(_vocabulary(new), "string"),
        K(_vocabulary(old), "string"),
        new_vocab_offset=offset,
        num_new_vocab=d.integer(0, 9 - offset),
        old_vocab_size=d.choice([-1, 2, len(old)]),
    )


spec("GenerateVocabRemapping", _remapped, types=(), examples=8, mutate=())
