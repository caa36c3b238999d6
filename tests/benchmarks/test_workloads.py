"""The workloads, which TensorFlow 1.15's Python 3.7 runs too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import benchmarks

_FOLDER = Path(benchmarks.__file__).parent
_SHARED = ["worker.py", "systems.py", "clusters.py", "cluster_task.py"]


@pytest.mark.parametrize(
    "path",
    [*(_FOLDER / name for name in _SHARED), *_FOLDER.glob("workloads/*.py")],
    ids=lambda path: path.stem,
)
def test_python_of_tensorflow_1_reads_it(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 7))
