"""Gradients through MetaGraphDefs of TensorFlow; the stored ones are current.

`python -m tests.peer.test_imported_control_flow` stores those of both versions for the
tests that run without TensorFlow.
"""

from __future__ import annotations

import json
import lzma
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.client.importing import imported_control_flow as recorded
from tests.peer.peers import python_of

pytestmark = pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
RECORDER = Path(__file__).with_name("imported_recorder.py")
STORED = RECORDER.parents[1] / "client/recorded/imported_control_flow.json.xz"
VERSIONS = ("1.15", "2.21")


@cache
def _recorded(version: str) -> dict[str, Any]:
    python = python_of(version)
    if python is None:
        pytest.skip(f"no environment for TensorFlow {version}: make peer")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.json"
        subprocess.run(
            [python, RECORDER, version, file], check=True, stderr=subprocess.DEVNULL
        )
        records: dict[str, Any] = json.loads(file.read_text())
    return records


@pytest.mark.parametrize("version", VERSIONS)
def test_values(version: str) -> None:
    failures = []
    for name, record in _recorded(version).items():
        try:
            recorded.check_values(record)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_record_is_current(version: str) -> None:
    stored = json.loads(lzma.decompress(STORED.read_bytes()))[version]
    fresh = _recorded(version)
    assert fresh.keys() == stored.keys()
    for name, record in fresh.items():
        assert record["nodes"] == stored[name]["nodes"], name
        for value, wanted in zip(record["values"], stored[name]["values"], strict=True):
            assert value["dtype"] == wanted["dtype"]
            np.testing.assert_allclose(value["value"], wanted["value"], 1e-5, 1e-6)


def test_tensorflow_reads_what_is_exported_here(tmp_path: Path) -> None:
    """The gradients that it takes after that are the recorded ones."""
    import tensorloom as tf

    python = python_of("1.15")
    if python is None:
        pytest.skip("no environment for TensorFlow 1.15: make peer")
    records = json.loads(lzma.decompress(STORED.read_bytes()))["1.15"]
    for number, record in enumerate(records.values()):
        with tf.Graph().as_default():
            tf.train.import_meta_graph(recorded.meta_graph_of(record))
            tf.train.export_meta_graph(str(tmp_path / f"{number}.meta"))
    wanted = [[r["ys"], r["xs"], r["feeds"]] for r in records.values()]
    (tmp_path / "wanted.json").write_text(json.dumps(wanted))
    program = [python, RECORDER, "--read", tmp_path]
    subprocess.run(program, check=True, stderr=subprocess.DEVNULL)
    values = json.loads((tmp_path / "values.json").read_text())
    for (name, record), found in zip(records.items(), values, strict=True):
        for value, expected in zip(found, record["values"], strict=True):
            recorded.compare(name, np.array(value, expected["dtype"]), expected)


if __name__ == "__main__":
    everything = {version: _recorded(version) for version in VERSIONS}
    text = json.dumps(everything, sort_keys=True)
    STORED.write_bytes(lzma.compress(text.encode(), preset=9))
