"""SavedModels that TensorFlow 2.21 exported, with inputs and its answers.

Made by `tf.saved_model.save` of `tf.Module`s: variables and matmul (linear), lookup
tables with an asset (table), loops, branches and a TensorArray made by AutoGraph
(control), a counter, embeddings, parsing and strings (stateful), gradients, `map_fn`
and `scan` (grad).
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

_ARCHIVE = Path(__file__).parent / "data" / "tf2_models.tar.xz"
NAMES = ("linear", "table", "control", "stateful", "grad")


def unpack(directory: Path) -> dict[str, Any]:
    """Puts the models there; gives inputs and outputs by model and signature."""
    with tarfile.open(_ARCHIVE) as archive:
        archive.extractall(directory, filter="data")
    answers = json.loads((directory / "answers.json").read_text())
    return {
        model: {
            key: tuple({n: _array(v) for n, v in part.items()} for part in parts)
            for key, parts in signatures.items()
        }
        for model, signatures in answers.items()
    }


def _array(value: dict[str, Any]) -> Any:
    values = value["values"]
    if value["dtype"] == "bytes":
        array = np.empty(len(values), object)
        array[:] = [bytes.fromhex(item) for item in values]
    else:
        array = np.array(values, value["dtype"])
    return array.reshape(value["shape"])


def check(found: Any, expected: Any, name: str = "") -> None:
    """Equal; for floating-point numbers nearly."""
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6, err_msg=name)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=name)
