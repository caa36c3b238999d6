"""Ops, passes and devices that a program adds: docs/extending.md, run as written."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom import extend
from tensorloom.devices import device
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.master.optimize import custom_passes

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
# The snippets of a section build upon those above them.
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.M)


@pytest.fixture(autouse=True)
def _restore_registries() -> Iterator[None]:
    """Forgets what a test registered: other tests walk the registries."""
    op_registry.registered_ops()  # those that load late are not lost afterwards
    tables: list[dict[str, Any]] = [
        op_registry._REGISTRY,
        custom_passes._PASSES,
        device._KINDS,
    ]
    before = [dict(table) for table in tables]
    op_kernel.load_host_kernels()
    op_kernel.load_torch_kernels()
    kernels = {op: list(found) for op, found in op_kernel._KERNELS.items()}
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)
    op_kernel._KERNELS.clear()
    op_kernel._KERNELS.update(kernels)


def test_the_page_runs_as_written() -> None:
    assert len(BLOCKS) >= 8
    names: dict[str, Any] = {"__name__": "extending"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"docs/extending.md, snippet {number}", "exec"), names)


def test_the_op_takes_five_statements_or_fewer() -> None:
    code = [line for line in BLOCKS[0].splitlines() if line and "import" not in line]
    assert len(code) <= 5


def _register_double(**options: Any) -> None:
    extend.register_op(
        "Double", inputs=["x: T"], outputs=["y: T"], attrs=["T: type"], **options
    )


def test_an_op_without_shape_function_and_gradient() -> None:
    _register_double()
    extend.kernel("Double")(lambda node: lambda x: x + x)
    x = tf.constant([1.0])
    y = tf.raw_ops.Double(x=x)
    assert y.shape.ndims is None
    with pytest.raises(LookupError, match="Double"):
        tf.gradients(y, x)
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [2.0]


def test_an_op_that_is_not_differentiable() -> None:
    _register_double(gradient=extend.NOT_DIFFERENTIABLE)
    x = tf.constant([1.0])
    assert tf.gradients(tf.raw_ops.Double(x=x), x) == [None]


def test_an_op_without_kernel_says_so() -> None:
    _register_double()
    y = tf.raw_ops.Double(x=tf.constant([1.0]), name="twice")
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"No OpKernel.*Double"),
    ):
        sess.run(y)


def test_an_op_in_a_loop_and_in_a_graph_def() -> None:
    _register_double(shape_fn=extend.unchanged_shape)
    extend.host_kernel("Double")(lambda node: lambda x: x + x)
    start = tf.placeholder(tf.int64, [], name="start")
    tf.while_loop(
        lambda v: v < 100, lambda v: tf.raw_ops.Double(x=v), [start], name="grow"
    )
    last = tf.identity(
        tf.while_loop(lambda v: v < 100, lambda v: tf.raw_ops.Double(x=v), [start]),
        name="last",
    )
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        assert sess.run(last.name, {"start:0": 3}) == 192


def test_registering_twice_is_refused() -> None:
    _register_double()
    with pytest.raises(ValueError, match="Double"):
        _register_double()


def test_a_kernel_takes_the_place_of_ours() -> None:
    extend.host_kernel("Sqrt")(lambda node: lambda x: x * np.float32(10))
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        assert sess.run(tf.sqrt(x), {x: [1.0, 4.0]}).tolist() == [10.0, 40.0]


def test_a_kernel_registered_before_ours_are_loaded_stays_preferred() -> None:
    def mine(node: extend.OpKernelConstruction) -> Any:
        return lambda x: x

    def ours(node: extend.OpKernelConstruction) -> Any:
        return lambda x: x

    _register_double()
    extend.kernel("Double")(mine)
    op_kernel._loaders["torch"] = lambda: extend.kernel("Double")(ours) and None
    op_kernel.load_torch_kernels()
    assert op_kernel.find_kernels("Double", {}, "CPU")[0].factory is mine


# --- passes ---------------------------------------------------------------------------


def _config(*names: str, **rewrite: Any) -> tf.ConfigProto:
    config = tf.ConfigProto()
    options = config.graph_options.rewrite_options
    for name in names:
        options.custom_optimizers.add(name=name)
    for field, value in rewrite.items():
        setattr(options, field, value)
    return config


def _register_negating_pass(name: str, log: list[str]) -> None:
    @extend.graph_pass(name)
    def run_pass(
        graph: extend.GraphIR, target: extend.OptimizeTarget
    ) -> extend.GraphIR:
        log.append(name)
        return graph.with_nodes(
            node.replace(op="Neg") if node.op == "Sin" else node
            for node in graph.nodes.values()
        )


def _sin_of_two(config: Any) -> float:
    x = tf.placeholder(tf.float32, [])
    with tf.Session(config=config) as sess:
        return float(sess.run(tf.sin(x), {x: 2.0}))


def test_a_pass_runs_only_where_a_config_names_it() -> None:
    log: list[str] = []
    _register_negating_pass("first", log)
    _register_negating_pass("second", log)
    assert _sin_of_two(None) == pytest.approx(np.sin(2.0))
    assert log == []
    assert _sin_of_two(_config("second", "first")) == -2.0
    assert log == ["second", "first"]


def test_disabling_rewrites_disables_passes() -> None:
    log: list[str] = []
    _register_negating_pass("first", log)
    _sin_of_two(_config("first", disable_meta_optimizer=True))
    assert log == []


def test_unknown_and_removed_passes_are_left_out_with_a_warning() -> None:
    log: list[str] = []
    _register_negating_pass("first", log)
    extend.remove_graph_pass("first")
    with pytest.warns(UserWarning, match=r"'first'.*not registered"):
        assert _sin_of_two(_config("first")) > 0


def test_two_passes_of_one_name_are_refused() -> None:
    _register_negating_pass("first", [])
    with pytest.raises(ValueError, match="first"):
        _register_negating_pass("first", [])


# --- devices --------------------------------------------------------------------------


def _register_slow_cpu() -> None:
    @extend.device_kind(count=2)
    class SlowCpu(extend.CpuDevice):
        device_type = "SLOW"


def _slow_devices(config: Any = None) -> list[str]:
    with tf.Session(graph=tf.Graph(), config=config) as sess:
        return [d.name for d in sess.list_devices() if d.device_type == "SLOW"]


def test_a_device_kind_is_listed_and_counted() -> None:
    _register_slow_cpu()
    prefix = "/job:localhost/replica:0/task:0/device:SLOW:"
    assert _slow_devices() == [prefix + "0", prefix + "1"]
    assert _slow_devices(tf.ConfigProto(device_count={"SLOW": 1})) == [prefix + "0"]
    assert _slow_devices(tf.ConfigProto(device_count={"SLOW": 0})) == []


def test_nothing_goes_to_a_device_kind_that_is_not_asked_for() -> None:
    _register_slow_cpu()
    x = tf.placeholder(tf.float32, [2])
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(
            tf.exp(x) + 1.0,
            {x: [1.0, 2.0]},
            options=tf.RunOptions(output_partition_graphs=True),
            run_metadata=metadata,
        )
    devices = {n.device for g in metadata.partition_graphs for n in g.node}
    assert devices == {"/job:localhost/replica:0/task:0/device:CPU:0"}


def test_training_on_a_device_kind() -> None:
    _register_slow_cpu()
    losses = []
    for place in ("/cpu:0", "/device:SLOW:1"):
        with tf.Graph().as_default(), tf.device(place):
            w = tf.Variable([1.0, 2.0])
            loss = tf.reduce_sum(tf.square(w - 5.0))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(5):
                    sess.run(train)
                losses.append(sess.run(loss))
    assert losses[0] == losses[1]


def test_an_unregistered_device_kind_is_unknown() -> None:
    _register_slow_cpu()
    extend.unregister_device_kind("SLOW")
    with tf.device("/device:SLOW:0"):
        y = tf.constant(1.0) + 1.0
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="SLOW"),
    ):
        sess.run(y)


def test_extending_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        test_the_page_runs_as_written()
