"""Programs on clusters where tensorloom and TensorFlow meet: the same outcomes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.peer.cluster import mixes
from tests.peer.cluster.mixes import OURS, Mix

MIXES = [
    # A real client on our cluster.
    Mix(OURS, OURS, "1.15"),
    Mix(OURS, OURS, "2.21"),
    # Our client on a real cluster.
    Mix("1.15", "1.15", OURS),
    Mix("2.21", "2.21", OURS),
    # Our master with real workers, and the reverse.
    Mix("1.15", OURS, "1.15"),
    Mix("2.21", OURS, OURS),
    Mix(OURS, "1.15", OURS),
    Mix(OURS, "2.21", "2.21"),
    # Ourselves.
    Mix(OURS, OURS, OURS),
]

# Where TensorFlow's own two versions differ, or a client cannot write the program.
DIFFERENT: dict[str, str] = {}


@cache
def reference(version: str) -> dict[str, dict[str, Any]]:
    """What TensorFlow gives, alone."""
    return mixes.run_programs(Mix(version, version, version))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mix", MIXES, ids=str)
def test_programs_of_a_mix(mix: Mix) -> None:
    if not mix.is_here:
        pytest.skip("a system of the mix is not installed")
    versions = [s for s in (mix.client, mix.worker, mix.ps) if s != OURS] or ["1.15"]
    expected = reference(versions[0])
    found = mixes.run_programs(mix)
    assert found.keys() == expected.keys()
    assert len(found) >= 30
    wrong = {
        name: (found[name], expected[name])
        for name in found
        if name not in DIFFERENT and not is_same(found[name], expected[name])
    }
    assert not wrong, f"{len(wrong)} of {len(found)}: {wrong}"


def is_same(a: Any, b: Any) -> bool:
    """Equal but for rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return bool(np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True))
    return bool(a == b)
