"""Ops whose kernels are compiled C: here, at a server, and through the C API."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.capi.conftest import PROGRAMS, ROOT, Library

pytestmark = pytest.mark.capi


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of `programs/kernel_ops.c`."""
    path = tmp_path_factory.mktemp("kernels") / "kernel_ops.so"
    include = ROOT / "tensorloom" / "capi" / "include"
    command = ["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
    source = str(PROGRAMS / "kernel_ops.c")
    subprocess.run([*command, source, "-o", str(path)], check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def ops(library: Path) -> Any:
    return tf.load_op_library(str(library))


@pytest.fixture
def sess() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_module(ops: Any, library: Path) -> None:
    assert tf.load_op_library(str(library)) is ops
    names = [op.name for op in ops.OP_LIST.op]
    assert names == ["ScaledInC", "SilentInC", "SumsInC"]
    assert ops.scaled_in_c.__doc__ == "factor * x"


def test_values(ops: Any, sess: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    y = ops.scaled_in_c(x, factor=3.0)
    assert y.shape.as_list() == [None, 2]
    assert sess.run(y, {x: [[1, 2], [3, 4]]}).tolist() == [[3, 6], [9, 12]]
    assert sess.run(y, {x: np.ones((1000, 2))}).sum() == 6000
    transposed = np.ones((2, 3), np.float32).T
    assert sess.run(y, {x: transposed}).shape == (3, 2)
    scalar = sess.run(ops.scaled_in_c(tf.constant(2.0, tf.float64)))
    assert scalar == 4.0
    totals, count = sess.run(ops.sums_in_c([[1, 2, 3], [4, 5]], more=10))
    assert totals.tolist() == [6, 9]
    assert count == 12


def test_errors(ops: Any, sess: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    feed = {x: [1.0, 2.0]}
    with pytest.raises(tf.errors.InvalidArgumentError, match="factor is negative"):
        sess.run(ops.scaled_in_c(x, factor=-1.0), feed)
    with pytest.raises(tf.errors.InternalError, match="did not ask for output 0"):
        sess.run(ops.silent_in_c(x), feed)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no string"):
        sess.run(ops.silent_in_c(tf.constant("a")))
    with pytest.raises(TypeError, match="factor"):
        ops.scaled_in_c(x, 1.0, factor=2.0)
    with pytest.raises(TypeError, match="2 arguments"):
        ops.scaled_in_c(x, 1.0, 2.0)


def test_gradient_in_python(ops: Any, sess: Any) -> None:
    tf.RegisterGradient("ScaledInC")(lambda op, grad: 2.0 * grad)
    x = tf.constant([1.0, 2.0])
    assert sess.run(tf.gradients(ops.scaled_in_c(x), x)[0]).tolist() == [2.0, 2.0]


def test_at_a_server(ops: Any, library: Path) -> None:
    """A worker that loads the library runs its kernels for clients."""
    options = ["--cluster", "worker=localhost:0", "--load", str(library)]
    command = [sys.executable, "-m", "tensorloom", "server", *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stderr is not None
        target = ""
        for line in server.stderr:
            if " is at " in line:
                target = line.split(" is at ")[1].strip()
                break
        with tf.Graph().as_default(), tf.Session(target) as session:
            x = tf.placeholder(tf.float32, [2])
            with tf.device("/job:worker/task:0"):
                y = ops.scaled_in_c(x, factor=5.0)
            assert session.run(y, {x: [1.0, 2.0]}).tolist() == [5.0, 10.0]
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_not_a_table(tmp_path: Path) -> None:
    """A library without ops is loaded; one that is none is not."""
    (tmp_path / "empty.c").write_text("int nothing;\n")
    path = tmp_path / "empty.so"
    command = ["cc", "-shared", "-fPIC", str(tmp_path / "empty.c"), "-o", str(path)]
    subprocess.run(command, check=True, timeout=60)
    assert not tf.load_op_library(str(path)).OP_LIST.op
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_op_library(str(tmp_path / "empty.c"))


def test_through_the_c_api(ours: Library, library: Path, tmp_path: Path) -> None:
    printed = ours.output("library", tmp_path, str(library))
    assert printed == "1\ny: type 1 [] 42\nend\n"
