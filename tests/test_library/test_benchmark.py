"""Benchmarks are registered, run by pattern, and report in TensorFlow's form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.protos import test_log_pb2
from tensorloom.test import benchmark, local_cluster

if TYPE_CHECKING:
    from pathlib import Path

ran: list[str] = []


class ProductBenchmark(tf.test.Benchmark):
    def benchmark_product(self) -> None:
        ran.append("product")
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [4, 4])
            result = self.run_op_benchmark(
                sess,
                tf.matmul(x, x),
                {x: [[1.0] * 4] * 4},
                min_iters=3,
                store_trace=True,
                extras={"batch": 4, "note": "small"},
                mbs=1,
            )
        trace = json.loads(result["extras"]["full_trace_chrome_format"])
        ops = [e["args"]["op"] for e in trace["traceEvents"] if e["ph"] == "X"]
        assert "MatMul" in ops

    def benchmark_other(self) -> None:
        ran.append("other")
        self.report_benchmark(
            iters=1, name="named/so", metrics=[{"name": "m", "value": 2.0}]
        )


def test_results_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(benchmark.REPORT_PREFIX, f"{tmp_path}/")
    ran.clear()
    benchmark.run_benchmarks("ProductBenchmark.benchmark_product$")
    assert ran == ["product"]
    data = (tmp_path / "ProductBenchmark.benchmark_product").read_bytes()
    (entry,) = test_log_pb2.BenchmarkEntries.FromString(data).entry
    assert entry.iters == 3
    assert entry.wall_time > 0
    assert entry.throughput == pytest.approx(1 / entry.wall_time)
    assert entry.extras["note"].string_value == "small"
    assert entry.extras["batch"].double_value == 4
    assert entry.extras["allocator_maximum_num_bytes_cpu"].double_value >= 64
    with pytest.raises(OSError, match="exists"):
        benchmark.run_benchmarks("benchmark_product$")


def test_results_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.run_benchmarks("benchmark_other")
    assert 'name: "ProductBenchmark.named/so"' in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [{"extras": [1]}, {"metrics": {}}, {"metrics": [{"name": "x"}]}]
)
def test_bad_reports(arguments: dict[str, Any]) -> None:
    class Bad(tf.test.Benchmark):
        def benchmark(self) -> None:
            self.report_benchmark(**{"extras": None, **arguments})

    with pytest.raises(TypeError, match="must"):
        Bad().benchmark()


def test_config_keeps_the_op() -> None:
    rewrites = tf.test.benchmark_config().graph_options.rewrite_options
    assert rewrites.dependency_optimization == rewrites.OFF


def test_stubs_are_taken_back() -> None:
    class Base:
        @staticmethod
        def f() -> int:
            return 1

    class Derived(Base):
        pass

    thing = Derived()
    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(local_cluster, "socket", None)
        stubs.SmartSet(thing, "f", lambda self=None: 2)
        assert local_cluster.socket is None
        assert thing.f() == 2
        with pytest.raises(AttributeError):
            stubs.SmartSet(thing, "g", None)
    assert local_cluster.socket is not None
    assert thing.f() == Base.f() == 1


def test_local_clusters() -> None:
    workers, servers = tf.test.create_local_cluster(2, 1)
    assert len(workers) == 2
    assert len(servers) == 1
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            variable = tf.get_variable("v", initializer=2.0, use_resource=True)
        with tf.device("/job:worker/task:1"):
            doubled = variable * 2.0
        with tf.Session(workers[0].target) as session:
            session.run(variable.initializer)
            assert session.run(doubled) == 4.0


def test_ops_of_tests() -> None:
    from tensorloom.test import test_ops

    with tf.Graph().as_default(), tf.Session() as session:
        assert test_ops.int_output(name="x").name == "x:0"
        assert test_ops.list_output([tf.int32, tf.float32])[1].dtype == tf.float32
        assert test_ops.default_attrs().get_attr("shape_val").dim[0].size == 2
        handle = test_ops.stub_resource_handle_op()
        made = test_ops.resource_initialized_op(handle)
        assert not session.run(made)
        with pytest.raises(tf.errors.NotFoundError):
            session.run(test_ops.resource_using_op(handle))
        session.run(test_ops.resource_create_op(handle))
        assert session.run(made)
        assert session.run(test_ops.kernel_label()) == b"My label is: default"
        assert session.run(test_ops.test_attr(tf.float64)) == 100
        with pytest.raises(NotImplementedError, match="For reasons"):
            test_ops.old()
        with pytest.raises(AttributeError):
            _ = test_ops.no_such_op


def test_gradients_of_complex_numbers() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder_with_default(tf.constant([2 + 1j], tf.complex128), [1])
        for y, expected in (
            (x * (5 + 7j), [[5, 7], [-7, 5]]),
            (tf.math.conj(x), [[1, 0], [0, -1]]),
        ):
            found = tf.test.compute_gradient(x, [1], y, [1], [2 + 1j])
            for jacobian in found:
                assert jacobian.dtype == np.float64
                np.testing.assert_allclose(jacobian, expected, atol=1e-6)
