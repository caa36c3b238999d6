"""Debug servers and sessions of TensorFlow 1.15 and ours understand each other."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.debug import GrpcDebugWrapperSession, TensorBoardDebugWrapperSession
from tests.debug.remote.test_events import _Server
from tests.peer.peers import python_of

FOLDER = Path(__file__).parent
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


@pytest.fixture
def python() -> Path:
    found = python_of("1.15")
    if found is None:
        pytest.skip("no environment for TensorFlow 1.15: make peer")
    return found


def test_our_server_hears_of_tensorflow(python: Path) -> None:
    server = _Server()
    server.request_watch("y", 0, "DebugIdentity")
    try:
        subprocess.run(
            [python, FOLDER / "grpc_sender.py", server.address],
            check=True,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            timeout=600,
        )
    finally:
        server.stop_server(0.0).wait()
    values = dict(server.values)
    assert [v for n, v in server.values if n == "y:0:DebugIdentity"] == [9, 16, 25]
    assert values["large:0:DebugIdentity"].sum() == 4.0 * 1500 * 1000
    assert len(server.runs) == 3


def test_tensorflows_server_hears_of_us(python: Path) -> None:
    receiver = subprocess.Popen(
        [python, FOLDER / "grpc_receiver.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    )
    try:
        assert receiver.stdout is not None
        address = f"localhost:{int(receiver.stdout.readline())}"
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.square(x, name="y")
        large = tf.constant(np.ones([1500, 1000], np.float32)) + x
        large = tf.identity(large, name="large")
        sess = GrpcDebugWrapperSession(tf.Session(), address)
        sess.run([y, large], {x: 3.0})
        sess = TensorBoardDebugWrapperSession(tf.Session(), address)
        sess.run(y, {x: 4.0})
        heard = json.loads(receiver.communicate(timeout=600)[0])
    finally:
        receiver.kill()
    assert heard["runs"] == [["x:0"], ["x:0"]]
    assert len(heard["graphs"]) == 2
    assert [v for n, v in heard["values"] if n == "y:0:DebugIdentity"] == [9.0, 16.0]
    assert dict(heard["values"])["large:0:DebugIdentity"] == 4.0 * 1500 * 1000
