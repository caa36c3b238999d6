"""Graphs that TensorFlow makes now give its values; the stored ones are current.

`python -m tests.peer.test_imported_graphs` stores those of 2.21 for the tests that run
without TensorFlow.
"""

from __future__ import annotations

import base64
import json
import lzma
import subprocess
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.client.importing import recorded_graphs
from tests.peer.peers import python_of

RECORDER = Path(__file__).with_name("graph_recorder.py")
STORED = RECORDER.parents[1] / "client/recorded/imported_graphs.json.xz"
KINDS = ("1.15", "2.21", "2.21-functions")


@cache
def _recorded(kind: str) -> dict[str, Any]:
    python = python_of(kind.split("-")[0])
    if python is None:
        pytest.skip(f"no environment for TensorFlow {kind}: make peer")
    made = subprocess.run(
        [python, RECORDER, kind, "/dev/stdout"],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    # What TensorFlow prints comes before.
    text = made.stdout.decode()
    recorded: dict[str, Any] = json.loads(text[text.index("{\n") :])
    return recorded


def _differences(programs: dict[str, Any]) -> dict[str, str]:
    """By program: how its values differ here."""
    found = {}
    for name, program in programs.items():
        try:
            recorded_graphs.check(program)
        except Exception as error:
            found[name] = f"{name}: {type(error).__name__}: {str(error)[:300]}"
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_values(kind: str) -> None:
    different = _differences(_recorded(kind))
    if different:
        # Seldom TensorFlow 1.15 gives NaN for a gradient of batch normalization, and
        # numbers when it is asked again.
        again = _recorded.__wrapped__(kind)
        different = _differences({name: again[name] for name in different})
    assert not different, "\n".join(different.values())


def test_the_stored_graphs_are_current() -> None:
    stored = json.loads(lzma.decompress(STORED.read_bytes()))
    fresh = _to_store()
    assert fresh.keys() == stored.keys()
    for name, program in fresh.items():
        for run, known in zip(program["runs"], stored[name]["runs"], strict=True):
            for value, wanted in zip(run["values"], known["values"], strict=True):
                recorded_graphs.compare(
                    name,
                    recorded_graphs.array_of(value),
                    recorded_graphs.array_of(wanted),
                )


def _to_store() -> dict[str, Any]:
    return {
        name: {
            **program,
            "graph": _unpacked(program["graph"]),
            "exported": kind.endswith("functions"),
        }
        for kind in KINDS[1:]
        for name, program in _recorded(kind).items()
        if name not in _NOT_STORED
    }


# A dozen random programs is enough where TensorFlow is not installed.
_NOT_STORED = frozenset(f"random_program_{i}" for i in range(12, 100))


def _unpacked(graph: str) -> str:
    """The graph without compression of its own: all together compress better."""
    raw = zlib.decompress(base64.b64decode(graph))
    return base64.b64encode(zlib.compress(raw, 0)).decode()


if __name__ == "__main__":
    STORED.write_bytes(lzma.compress(json.dumps(_to_store()).encode(), preset=9))
