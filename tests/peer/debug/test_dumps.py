"""TensorFlow 1.15 reads the dumps of our debugger, and ours reads TensorFlow's."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tests.peer.debug import recorder
from tests.peer.peers import python_of


def _in_tensorflow(*arguments: Path | str) -> str:
    python = python_of("1.15")
    if python is None:
        pytest.skip("no environment for TensorFlow 1.15: make peer")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [python, recorder.__file__, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ).stdout


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each of the two says of each one's dump: "reader of writer"."""
    root = tmp_path_factory.mktemp("dumps")
    _in_tensorflow("dump", root / "theirs")
    tf.disable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            recorder.dump(tf, tf.debug, str(root / "ours"))
    finally:
        tf.enable_control_flow_v2()
    found: dict[str, Any] = {}
    for writer in ("ours", "theirs"):
        found[f"they of {writer}"] = json.loads(_in_tensorflow("read", root / writer))
        ours = recorder.read(tf.debug, str(root / writer))
        found[f"we of {writer}"] = json.loads(json.dumps(ours))
    return found


@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_both_readers_say_the_same(told: dict[str, Any], writer: str) -> None:
    ours, theirs = told[f"we of {writer}"], told[f"they of {writer}"]
    for fact, value in theirs.items():
        assert ours[fact] == value, fact


def test_both_runtimes_dump_the_same(told: dict[str, Any]) -> None:
    ours, theirs = told["they of ours"], told["they of theirs"]
    assert ours["values"].keys() == theirs["values"].keys()
    for key, values in theirs["values"].items():
        assert ours["values"][key] == values, key
    for fact in ("devices", "step", "inputs", "outputs", "infinite", "bad"):
        assert ours[fact] == theirs[fact], fact
