"""`tf.test.TestCase`, run on itself."""

from __future__ import annotations

import collections
import tempfile

import numpy as np
import pytest

import tensorloom as tf

Pair = collections.namedtuple("Pair", "x y")


class TestTestCase(tf.test.TestCase):
    """Each assertion accepts and refuses."""

    def test_all_close(self) -> None:
        self.assertAllClose({"a": [1.0, 2.0]}, {"a": np.array([1.0, 2.0 + 1e-9])})
        self.assertAllClose(Pair(1.0, [2.0]), Pair(1.0, [2.0]))
        self.assertAllClose([[1.0], [2.0, 3.0]], [[1.0], [2.0, 3.0]])
        self.assertNotAllClose([1.0], [1.1])
        with self.assertRaises(AssertionError):
            self.assertAllClose([1.0, 2.0], [1.0])
        half = np.array([1.0], np.float16)
        self.assertAllCloseAccordingToType(half, np.array([1.0005], np.float16))

    def test_tensors_are_evaluated(self) -> None:
        with self.cached_session() as sess:
            assert tf.get_default_session() is sess
            self.assertAllEqual(tf.constant([1, 2]), [1, 2])
            self.assertAllEqual(tf.constant(["a"]), [b"a"])
            self.assertAllGreater(tf.constant([1, 2]), 0)
        with self.cached_session() as again:
            assert again is sess
            with self.cached_session(use_gpu=True) as third:
                assert third is sess
            with self.assertRaises(ValueError), self.cached_session(force_gpu=True):
                pass
            with self.test_session(config=tf.ConfigProto(), force_gpu=True) as other:
                assert other is sess

    def test_graphs_are_fresh(self) -> None:
        assert not tf.get_default_graph().get_operations()
        with self.session(graph=tf.Graph()) as sess:
            assert tf.constant(1.0, name="c").device == "/device:CPU:0"
            assert sess.run("c:0") == 1.0

    def test_sets_ranges_shapes(self) -> None:
        self.assertAllInSet([1, 2], {1, 2, 3})
        self.assertAllInRange([1.0, 2.0], 1, 2)
        self.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))
        self.assertDTypeEqual(np.float32(1), tf.float32)
        with self.assertRaises(AssertionError):
            self.assertAllInRange([1.0, 2.0], 1, 2, open_upper_bound=True)
        with self.assertRaises(AssertionError):
            self.assertNotAllEqual([1], [1])

    def test_errors(self) -> None:
        x = tf.placeholder(tf.float32)
        with self.session() as sess, self.assertRaisesOpError("must feed"):
            sess.run(tf.identity(x))
        with (
            self.assertRaises(AssertionError),
            self.assertRaisesWithPredicateMatch(ValueError, "this"),
        ):
            raise ValueError("that")

    def test_threads_and_streams(self) -> None:
        thread = self.checkedThread(target=int, args=("x",))
        thread.start()
        with self.assertRaisesRegex(AssertionError, "Error in checkedThread"):
            thread.join()
        with (
            tempfile.TemporaryFile("w") as stream,
            self.captureWritesToStream(stream) as written,
        ):
            stream.write("hello")
            assert written.contents() == "hello"
            stream.write(" again")
        assert written.contents() == "hello again"
        self.assertItemsEqual([1, 2], [2, 1])

    def test_gradients_and_graph_defs(self) -> None:
        x = tf.placeholder(tf.float64, [2])
        y = tf.reduce_sum(x * x)
        with self.session():
            assert tf.test.compute_gradient_error(x, [2], y, []) < 1e-6
        graph_def = tf.get_default_graph().as_graph_def()
        tf.test.assert_equal_graph_def(graph_def, graph_def)
        with self.assertRaises(AssertionError):
            tf.test.assert_equal_graph_def(graph_def, tf.GraphDef())


def test_facts_about_the_machine() -> None:
    assert tf.test.gpu_device_name() in ("", "/device:GPU:0")
    assert tf.test.is_gpu_available() == bool(tf.test.gpu_device_name())
    assert tf.test.get_temp_dir() == tf.test.get_temp_dir()


def test_arrays_of_one_number_are_near_each_other() -> None:
    case = tf.test.TestCase("run")
    case.assertNear(np.array([1.0]), 1.05, 0.1)
    with pytest.raises(AssertionError, match=r"1.000000 != 1.500000 \+/- 0.100000"):
        case.assertNear(np.array([[1.0]]), np.float32(1.5), 0.1)
    case.assertDeviceEqual(None, "")
    with pytest.raises(AssertionError):
        case.assertDeviceEqual(None, "/cpu:0")
