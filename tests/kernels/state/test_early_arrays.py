"""Small programs run without torch; with it, they compute the same."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from tensorloom.framework.runtime.resource import Variable
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.torch.state import early_arrays

PROGRAM = """
import sys
import numpy as np
import tensorloom as tf
if "torch" in sys.argv:
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.nn.conv2d(tf.ones([1, 8, 8, 1]), tf.ones([3, 3, 1, 1]), 1, "SAME"))
tf.set_random_seed(7)
x = tf.placeholder(tf.float32, [None, 20])
labels = tf.placeholder(tf.int32, [None])
resource = "resource" in sys.argv
w = tf.get_variable("w", [20, 10], use_resource=resource)
b = tf.get_variable("b", [10], use_resource=resource)
logits = tf.matmul(x, w) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=labels, logits=logits))
train = tf.train.{optimizer}.minimize(loss)
shift = b.assign_sub(tf.ones([10]) / 3)
random = np.random.RandomState(0)
feed = {{x: random.rand(8, 20).astype("f"), labels: np.arange(8) % 10}}
sess = tf.Session()
sess.run(tf.global_variables_initializer())
found = [sess.run([loss, train], feed)[0] for _ in range(3)]
sess.run(shift)
if "torch" not in sys.argv:
    assert "torch" not in sys.modules
found += [sess.run(v) for v in tf.global_variables()]
# Larger and so torch's, with the same variables: they are read, and updated in place.
many = {{x: random.rand(3000, 20).astype("f"), labels: np.arange(3000) % 10}}
found += sess.run([tf.nn.conv2d(w[None, :, :, None], tf.ones([3, 3, 1, 1]), 1, "SAME")])
found += [sess.run([loss, train], many)[0], sess.run([loss, train], feed)[0]]
found += [sess.run(shift)] + [sess.run(v) for v in tf.global_variables()]
assert "torch" in sys.modules
sess.run(tf.global_variables_initializer())
found += [sess.run([loss, train], feed)[0]]
print([np.asarray(value).tobytes().hex() for value in found])
"""


def run(optimizer: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(optimizer=optimizer), *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.parametrize(
    ("optimizer", "kind"),
    [
        ("AdamOptimizer()", "reference"),
        ("AdamOptimizer()", "resource"),
        ("GradientDescentOptimizer(0.3)", "reference"),
        ("FtrlOptimizer(0.3)", "resource"),
    ],
)
def test_results_do_not_hang_on_when_torch_is_loaded(optimizer: str, kind: str) -> None:
    assert run(optimizer, kind) == run(optimizer, kind, "torch")


@pytest.fixture
def _early(monkeypatch: pytest.MonkeyPatch) -> None:
    import weakref

    monkeypatch.setattr(early_arrays, "_holders", weakref.WeakSet())


def _variable(value: np.ndarray) -> Variable:
    made = Variable("", "v", dtypes.float32, TensorShape.of(value.shape))
    made.value = value
    return made


@pytest.mark.usefixtures("_early")
def test_arrays_become_tensors_once() -> None:
    small = _variable(np.ones(3, np.float32))
    assert early_arrays.may_hold(small, small.value)
    large = np.ones(early_arrays.MOST_ELEMENTS + 1, np.float32)
    assert not early_arrays.may_hold(_variable(large), large)
    early_arrays.make_tensors()
    assert small.value.numpy().tolist() == [1, 1, 1]
    assert not early_arrays.are_held()
    assert not early_arrays.may_hold(small, np.ones(3, np.float32))


@pytest.mark.usefixtures("_early")
def test_who_assigns_meanwhile_leaves_no_array() -> None:
    variable = _variable(np.ones(3, np.float32))
    with variable.lock:
        assert early_arrays.may_hold(variable, variable.value)
        thread = threading.Thread(target=early_arrays.make_tensors)
        thread.start()
        while early_arrays.are_held():
            pass
        variable.value = np.full(3, 2.0, np.float32)
    thread.join(60)
    assert variable.value.numpy().tolist() == [2, 2, 2]
