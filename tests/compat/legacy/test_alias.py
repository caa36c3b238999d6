"""`tensorloom run` finds its own packages once, under both names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import tensorflow.contrib as contrib
import tensorflow.train as train
import tensorflow.keras.layers as layers
print(contrib.__name__, train.__name__, layers.__name__)
try:
    from tensorflow.contrib.framework.python.ops import nothing
except ImportError as error:
    print("ImportError", error)
"""


def test_packages_are_not_loaded_twice(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "tensorloom", "run", str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first == "tensorloom.contrib tensorloom.train tensorloom.keras.layers"
    assert second.startswith("ImportError")
