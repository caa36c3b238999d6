"""Word pairs of a text and training with them."""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# Deprecated since 19, which makes their nodes errors in newer graphs.
_PRODUCER = 18


_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-files"


def _text(d: Draw) -> bytes:
    """Words, none as frequent as another: TensorFlow orders such ones by chance."""
    words = [b"w%d" % i for i in range(12) for _ in range(3 * i + d.integer(0, 2))]
    return b" \n\t\x0b ".join(d.rng.permutation(words)) + d.choice([b"", b"\r\n"])


def _pairs(d: Draw, filename: str = "", **attrs: Any) -> Any:
    if not filename:
        text = _text(d)
        _FOLDER.mkdir(exist_ok=True)
        filename = str(_FOLDER / f"text-{zlib.crc32(text):08x}")
        Path(filename).write_bytes(text)
    p = Program(_PRODUCER, differentiate=False)
    options = {
        "batch_size": d.choice([3, 100, 2000]),
        "window_size": d.integer(1, 5),
        "min_count": d.choice([0, 5, 20]),
        "subsample": d.choice([0.0, 0.001, 0.05]),
    }
    node = p.op("Skipgram", filename=filename, **(options | attrs))
    p.run(node)
    p.run(node)
    return p


spec(
    "Skipgram",
    _pairs,
    types=(),
    examples=6,
    gradient=False,
    mutate=(),
    bad=(
        lambda d: _pairs(d, window_size=50),
        lambda d: _pairs(d, "/no/such/file"),
    ),
)


def _training(d: Draw, **attrs: Any) -> Program:
    """Either no negative samples, or always the same one."""
    p = Program(_PRODUCER, differentiate=False)
    variables, changed = [], []
    for _ in range(2):
        variables.append(p.op("VariableV2", shape=(6, 3), dtype="float32"))
        value = d.rng.standard_normal((6, 3)).astype(np.float32)
        changed.append(p.op("Assign", variables[-1], value))
    p.run(*changed)
    counts = [0] * 6
    counts[d.integer(0, 5)] = 4
    options = {"vocab_count": counts, "num_negative_samples": d.integer(0, 4)}
    size = d.integer(0, 6)
    words = [d.rng.integers(0, 6, size).astype(np.int32) for _ in range(2)]
    train = p.op("NegTrain", *variables, *words, np.float32(0.3), **(options | attrs))
    p.run(train)
    p.run(train)
    p.run(*(p.op("Identity", variable) for variable in variables))
    return p


spec(
    "NegTrain",
    _training,
    types=(),
    examples=10,
    gradient=False,
    tolerance=Tolerance(1e-4, 1e-5, reason="sums in another order", widened=4),
    mutate=(),
    bad=(lambda d: _training(d, vocab_count=[1, 2]),),
)
