"""Programs over array ops: node names, static shapes, values and error classes.

The expectations in `recorded/array_programs.json` were printed by TensorFlow 1.15.0
through `array_observation.observe`.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.ops.array.array_observation import observe
from tests.ops.array.array_programs import PROGRAMS

for _group in (
    *("constants", "indices", "shapes", "joins", "gathers"),
    *("selection", "checks", "variables", "gradients"),
):
    importlib.import_module(f"tests.ops.array.array_programs_{_group}")

EXPECTED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "recorded" / "array_programs.json").read_text()
)


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_as_in_tensorflow(name: str) -> None:
    expected = EXPECTED[name]
    observed = observe(tf, PROGRAMS[name])
    assert observed.get("error") == expected.get("error")
    assert observed.get("nodes") == expected.get("nodes")
    _assert_close(observed.get("values"), expected.get("values"))


def _assert_close(observed: Any, expected: Any) -> None:
    """Compares nested lists of (dtype, shape, elements)."""
    if _is_array(expected):
        assert observed[:2] == expected[:2]
        if expected[2] and isinstance(expected[2][0], str):
            assert observed[2] == expected[2]
        else:
            np.testing.assert_allclose(observed[2], expected[2], rtol=1e-5, atol=1e-6)
    elif isinstance(expected, list):
        assert len(observed) == len(expected)
        for a, b in zip(observed, expected, strict=True):
            _assert_close(a, b)
    else:
        assert observed == expected


def _is_array(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], list)
    )
