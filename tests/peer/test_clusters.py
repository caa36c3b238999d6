"""Programs on clusters where tensorloom and TensorFlow meet: the same outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.peer.cluster import mixes
from tests.peer.cluster.mixes import Mix
from tests.peer.cluster.processes import OURS, Processes

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

# With a second worker.
MIXES_OF_THREE = [
    Mix(OURS, OURS, "1.15", OURS),
    Mix(OURS, OURS, "2.21", OURS),
    Mix("1.15", "1.15", OURS, "1.15"),
    Mix("1.15", OURS, "1.15", "1.15"),
    Mix("2.21", OURS, "2.21", "2.21"),
    Mix(OURS, "1.15", "1.15", OURS),
    Mix(OURS, "2.21", "2.21", OURS),
    Mix(OURS, OURS, OURS, OURS),
]

# What one process runs, each time on new servers.
PROGRAMS = [
    "steps training control_flow",
    "sessions invalid placements broken_functions templates",
]

# Where TensorFlow's own two versions differ, or a client cannot write the program.
DIFFERENT: dict[str, str] = {
    "updates_in_loop_of_resource_v2": "1.15 cannot place it, 2.21 and tensorloom can",
    "loops_on_resources": "2.21 cannot place it, 1.15 and tensorloom can",
    "rnn_over_tasks": "2.21 has no cells",
}
# What a master of TensorFlow cannot do with the functional loops of our clients.
DIFFERENT_AT: dict[tuple[str, str], str] = {
    ("1.15", "updates_in_loop"): "no variable of another task in a functional loop",
    ("1.15", "updates_in_loop_of_resource"): "nor one that is a resource",
    ("1.15", "takes_what_it_puts"): "nor a queue",
    ("2.21", "tensor_array_over_tasks"): "colocates the write with what is written",
}


def is_excused(mix: Mix, name: str) -> bool:
    """Whether a program may give something else on a mix."""
    if name in DIFFERENT:
        return True
    return mix.client == OURS and (mix.worker, name) in DIFFERENT_AT


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Where all systems are imported once."""
    found = Processes()
    yield found
    found.close()


@cache
def reference(
    processes: Processes, alone: Mix, modules: str
) -> dict[str, dict[str, Any]]:
    """What TensorFlow gives, alone."""
    return mixes.run_programs(processes, alone, modules)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("mix", "modules"),
    [(mix, modules) for mix in MIXES for modules in PROGRAMS]
    + [(mix, "three_tasks") for mix in MIXES_OF_THREE],
    ids=str,
)
def test_programs_of_a_mix(processes: Processes, mix: Mix, modules: str) -> None:
    if not mix.is_here:
        pytest.skip("a system of the mix is not installed")
    versions = [s for s in mix.systems if s != OURS] or ["1.15"]
    alone = Mix(*[versions[0]] * 3, versions[0] if mix.other else "")
    expected = reference(processes, alone, modules)
    found = mixes.run_programs(processes, mix, modules)
    assert found.keys() == expected.keys()
    assert len(found) >= (15 if mix.other else 30)
    wrong = differences(found, expected, mix)
    if wrong:
        # TensorFlow's own cluster loses a call now and then: what it gives counts
        # when it gives it again.
        again = mixes.run_programs(processes, alone, modules)
        wrong = differences(found, again, mix)
    assert not wrong, "\n".join([f"{len(wrong)} of {len(found)} programs:", *wrong])


def differences(found: dict[str, Any], expected: dict[str, Any], mix: Mix) -> list[str]:
    """What differs, a line for each program."""
    return [
        f"{name}: {difference(found[name], expected[name])}"
        for name in found
        if not is_excused(mix, name) and not is_same(found[name], expected[name])
    ]


def difference(found: Any, expected: Any) -> str:
    """The parts of two outcomes that differ, found and expected."""
    if isinstance(found, dict) and found.keys() == expected.keys():
        found, expected = list(found.values()), list(expected.values())
    if is_nested(found) and is_nested(expected) and len(found) == len(expected):
        pairs = zip(found, expected, strict=True)
        return "; ".join(difference(a, b) for a, b in pairs if not is_same(a, b))
    return f"{found}, TensorFlow {expected}"


def is_nested(value: Any) -> bool:
    """Whether it is a list of lists."""
    return isinstance(value, list) and all(isinstance(item, list) for item in value)


def is_same(a: Any, b: Any) -> bool:
    """Equal but for rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return bool(np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True))
    return bool(a == b)
