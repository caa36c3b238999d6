"""The recorded graphs with classic control flow are what TensorFlow 1.15 makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.peer.peers import python_of

RECORDER = Path(__file__).with_name("classic_recorder.py")
RECORDED = RECORDER.parents[1] / "client/recorded/classic_graphs.json"


def test_the_record_is_current(tmp_path: Path) -> None:
    python = python_of("1.15")
    if python is None:
        pytest.skip("no environment for TensorFlow 1.15: make peer")
    file = tmp_path / "classic_graphs.json"
    subprocess.run([python, RECORDER, file], check=True, stderr=subprocess.DEVNULL)
    fresh, old = json.loads(file.read_text()), json.loads(RECORDED.read_text())
    assert fresh.keys() == old.keys()
    for name, program in fresh.items():
        for run, known in zip(program["runs"], old[name]["runs"], strict=True):
            for value, wanted in zip(run["values"], known["values"], strict=True):
                assert value["dtype"] == wanted["dtype"]
                if value["dtype"] == "string":
                    assert value == wanted
                else:
                    np.testing.assert_allclose(value["values"], wanted["values"], 1e-5)
