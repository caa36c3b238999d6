"""Gradients of imported loops and conditionals are TensorFlow's, nodes and values.

As functions, on the interpreter, and under a scope.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.run import master
from tests.client.importing import imported_control_flow as recorded

pytestmark = pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
_FILE = Path(__file__).parents[1] / "recorded" / "imported_control_flow.json.xz"
RECORDS: dict[str, dict[str, Any]] = json.loads(lzma.decompress(_FILE.read_bytes()))
OLD = RECORDS["1.15"]
CASES = [
    pytest.param(record, id=f"{version}: {name}")
    for version, records in RECORDS.items()
    for name, record in records.items()
]


@pytest.mark.parametrize("record", CASES)
def test_values(record: recorded.Record) -> None:
    recorded.check_values(record)


@pytest.mark.parametrize("record", OLD.values(), ids=OLD)
def test_values_under_a_scope(record: recorded.Record) -> None:
    recorded.check_values(record, "some/scope")


@pytest.mark.parametrize("record", OLD.values(), ids=OLD)
def test_values_on_the_interpreter(
    record: recorded.Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    recorded.check_values(record)


@pytest.mark.parametrize("name", sorted(OLD.keys() - set(recorded.OTHER_NODES)))
def test_nodes(name: str) -> None:
    assert recorded.added_nodes(OLD[name]) == OLD[name]["nodes"]


@pytest.mark.parametrize("record", OLD.values(), ids=OLD)
def test_contexts_are_exported_as_they_came(record: recorded.Record) -> None:
    came = recorded.meta_graph_of(record)
    with tf.Graph().as_default():
        tf.train.import_meta_graph(came)
        again = tf.train.export_meta_graph()
    for key in ("while_context", "cond_context"):
        assert (key in again.collection_def) == (key in came.collection_def)
        assert _contexts(again, key) == _contexts(came, key)


@pytest.mark.parametrize("record", OLD.values(), ids=OLD)
def test_a_scope_comes_off_again(record: recorded.Record) -> None:
    came = recorded.meta_graph_of(record)
    with tf.Graph().as_default():
        tf.train.import_meta_graph(came, import_scope="scope")
        again = tf.train.export_meta_graph(export_scope="scope")
    for key in ("while_context", "cond_context"):
        assert _contexts(again, key) == _contexts(came, key)
    with tf.Graph().as_default():
        tf.train.import_meta_graph(again)


def _contexts(meta_graph: Any, key: str) -> list[Any]:
    from tensorloom.protos import control_flow_pb2

    kinds = {
        "while_context": control_flow_pb2.WhileContextDef,
        "cond_context": control_flow_pb2.CondContextDef,
    }
    if key not in meta_graph.collection_def:
        return []
    values = meta_graph.collection_def[key].bytes_list.value
    return [kinds[key].FromString(value) for value in values]


# --- building on ---------------------------------------------------------------------


def _tensor(name: str) -> Any:
    return tf.get_default_graph().get_tensor_by_name(name)


def _numeric(value: Any, x: float, delta: float = 1e-3) -> float:
    return float((value(x + delta) - value(x - delta)) / (2 * delta))


def test_training_goes_on_after_restore(tmp_path: Path) -> None:
    path, feeds = str(tmp_path / "model"), recorded.feeds_of(OLD["loop, variable"])

    def three_steps(sess: Any, y: Any, step: Any) -> list[Any]:
        return [sess.run([y, step], feeds)[0] for _ in range(3)]

    with tf.Graph().as_default(), tf.Session() as sess:
        (y,), _ = recorded.import_record(OLD["loop, variable"])
        step = tf.train.AdamOptimizer(0.05).minimize(y, name="step")
        sess.run(tf.global_variables_initializer())
        first = three_steps(sess, y, step)
        tf.train.Saver().save(sess, path)
        second = three_steps(sess, y, step)
    assert first[0] > first[-1] > second[-1]
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.import_meta_graph(path + ".meta").restore(sess, path)
        y, step = _tensor(OLD["loop, variable"]["ys"][0]), "step"
        assert three_steps(sess, y, graph.get_operation_by_name(step)) == second
        assert tf.gradients(y, _tensor("x:0"))[0] is not None


def test_two_imports_of_one_graph_do_not_mix() -> None:
    record = OLD["cond in loop, scalar"]
    with tf.Graph().as_default(), tf.Session() as sess:
        parts = [recorded.import_record(record, scope) for scope in ("a", "b")]
        ys = [ys[0] for ys, _ in parts]
        xs = [x for _, xs in parts for x in xs]
        sess.run(tf.global_variables_initializer())
        feeds = {"a/x:0": 0.3, "b/x:0": 0.3}
        values = sess.run(ys + tf.gradients(ys, xs), feeds)
    for i in (0, 1):
        for value, wanted in zip(
            [values[i], *values[2 + 2 * i : 4 + 2 * i]], record["values"], strict=True
        ):
            recorded.compare("y", value, wanted)


def test_input_map_leads_gradients_out() -> None:
    record = OLD["loop, scalar"]
    with tf.Graph().as_default(), tf.Session() as sess:
        z = tf.placeholder(tf.float32, [])
        meta_graph = recorded.meta_graph_of(record)
        tf.train.import_meta_graph(meta_graph, input_map={"x:0": 2.0 * z})
        (gradient,) = tf.gradients(_tensor(record["ys"][0]), z)
        value = sess.run(gradient, {z: 0.35, "n:0": 4})
    np.testing.assert_allclose(value, 2 * record["values"][1]["value"], rtol=1e-5)


def test_second_gradients() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,), (x,) = recorded.import_record(OLD["cond in cond"])
        (first,) = tf.gradients(y, x)
        (second,) = tf.gradients(first, x)
        for feed, wanted in (
            ([0.3, 0.1], np.exp([0.3, 0.1])),
            ([0.3, 0.4], [2.0, 2.0]),
        ):
            value = sess.run(second, {"x:0": feed, "p:0": True})
            np.testing.assert_allclose(value, wanted, rtol=1e-5)
    with tf.Graph().as_default():
        (y,), (x,) = recorded.import_record(OLD["loop, scalar"])
        (first,) = tf.gradients(y, x)
        with pytest.raises(TypeError, match="Second-order gradient"):
            tf.gradients(first, x)


def test_operations_are_added_to_a_loop() -> None:
    with tf.Graph().as_default():
        recorded.import_record(OLD["loop, scalar"])
        inner = _tensor("while/Identity_1:0")
        context = inner.op._get_control_flow_context()
        outside = tf.constant(2.0, name="outside")
        context.Enter()
        inside = inner * outside
        constant = tf.constant(3.0)
        context.Exit()
        assert [t.op.type for t in inside.op.inputs] == ["Identity", "Enter"]
        assert inside.op.inputs[1].op.inputs[0] is outside
        assert [op.name for op in constant.op.control_inputs] == ["while/Identity"]
        assert not tf.get_default_graph().is_fetchable(inside)
        with pytest.raises(ValueError, match="is in a while loop"):
            tf.identity(inside)


def test_operations_are_added_to_a_branch() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        recorded.import_record(OLD["cond, true"])
        inner = _tensor("cond/mul:0")
        context = inner.op._get_control_flow_context()
        context.Enter()
        inside = inner * tf.constant([2.0, 3.0])
        context.Exit()
        outside = tf.identity(inside)
        sess.run(tf.global_variables_initializer())
        value = sess.run(outside, {"x:0": [1.0, 1.0], "p:0": True})
        np.testing.assert_allclose(value, [3.0, 6.0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(outside, {"x:0": [1.0, 1.0], "p:0": False})


def test_a_loop_of_functions_inside_an_imported_one() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,), (x,) = recorded.import_record(OLD["loop, scalar"])
        inner = _tensor("while/Identity_1:0")
        context = inner.op._get_control_flow_context()
        context.Enter()
        z = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [0, inner])[
            1
        ]
        z = tf.cond(z > 0.1, lambda: z * 2.0, lambda: z - x)
        context.Exit()
        _tensor("while/add_1:0").op._update_input(0, z)
        (gradient,) = tf.gradients(y, x)

        def value(at: float) -> Any:
            return sess.run(y, {"x:0": at, "n:0": 3})

        found = sess.run(gradient, {"x:0": 0.8, "n:0": 3})
        np.testing.assert_allclose(found, _numeric(value, 0.8), rtol=1e-2)


def test_gradients_inside_a_loop_body() -> None:
    """As in TensorFlow: in a finished loop, a body's values depend on each other."""
    with tf.Graph().as_default():
        recorded.import_record(OLD["loop, scalar"])
        product = _tensor("while/mul:0")
        context = product.op._get_control_flow_context()
        context.Enter()
        assert tf.gradients(product, [_tensor("while/Identity_1:0")]) == [None]
        assert tf.gradients(product, [_tensor("x:0")]) == [None]
        constant = tf.constant(3.0)
        (gradient,) = tf.gradients(constant * product, constant)
        context.Exit()
        assert gradient is not None
        assert gradient.op._get_control_flow_context() is context


def test_a_graph_def_alone_has_no_contexts() -> None:
    with tf.Graph().as_default():
        graph_def = recorded.meta_graph_of(OLD["loop, scalar"]).graph_def
        tf.import_graph_def(graph_def, name="")
        with pytest.raises(AttributeError, match="came in a GraphDef") as caught:
            tf.gradients(_tensor("while/Exit_1:0"), _tensor("x:0"))
        assert isinstance(caught.value, LookupError)
        assert tf.identity(_tensor("while/mul:0")) is not None
    with tf.Graph().as_default(), tf.Session() as sess:
        record = OLD["cond in cond"]
        tf.import_graph_def(recorded.meta_graph_of(record).graph_def, name="")
        y = _tensor(record["ys"][0])
        values = sess.run(
            [y, *tf.gradients(y, _tensor("x:0"))], recorded.feeds_of(record)
        )
        for value, wanted in zip(values, record["values"], strict=True):
            recorded.compare("y", value, wanted)


def test_an_import_into_a_branch() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        recorded.import_record(OLD["cond, true"])
        context = _tensor("cond/mul:0").op._get_control_flow_context()
        other = tf.Graph()
        with other.as_default():
            tf.multiply(tf.placeholder(tf.float32, [], "a"), 2.0, name="double")
        seven = tf.constant(7.0)
        context.Enter()
        (double,) = tf.import_graph_def(
            other.as_graph_def(), {"a:0": seven}, ["double:0"], name="in"
        )
        context.Exit()
        assert double.op._get_control_flow_context() is context
        assert double.op.inputs[0].op.type == "Switch"
        feeds = {"x:0": [1.0, 1.0], "p:0": True}
        assert sess.run(tf.identity(double), feeds) == 14.0


def test_contexts_of_other_graphs_are_refused() -> None:
    meta_graph = recorded.meta_graph_of(OLD["loop, scalar"])
    other = recorded.meta_graph_of(OLD["all nested"])
    key = "while_context"
    meta_graph.collection_def[key].CopyFrom(other.collection_def[key])
    with tf.Graph().as_default(), pytest.raises(KeyError):
        tf.train.import_meta_graph(meta_graph)


@pytest.mark.parametrize("interprets", [False, True])
def test_hessians_of_a_branch(
    interprets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop over the rows reads values of both branches, and one is not taken."""
    if interprets:
        monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    with tf.Graph().as_default(), tf.Session() as sess:
        ys, xs = recorded.import_record(OLD["cond, true"])
        x = xs[0]
        x.set_shape([2])
        (hessian,) = tf.hessians(tf.reduce_sum(tf.square(ys[0])), x)
        sess.run(tf.global_variables_initializer())
        for taken, wanted in (
            (True, [[4.5, 0.0], [0.0, 8.0]]),
            (False, np.diag(2 * np.cos([0.6, 1.0]))),
        ):
            value = sess.run(hessian, {"x:0": [0.3, 0.5], "p:0": taken})
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
    assert tf.get_default_graph().get_collection("while_context") == []


@pytest.mark.parametrize("name", ["loop, scalar", "cond in loop, scalar", "slices"])
def test_gradients_taken_in_a_branch(name: str) -> None:
    record = OLD[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,), xs = recorded.import_record(record)
        p = tf.placeholder(tf.bool, [])
        found = tf.cond(
            p,
            lambda: [tf.convert_to_tensor(g) for g in tf.gradients(y, xs)],
            lambda: [tf.zeros_like(x) for x in xs],
            strict=True,
        )
        sess.run(tf.global_variables_initializer())
        feeds = recorded.feeds_of(record)
        for value, wanted in zip(
            sess.run([y, *found], {p: True, **feeds}), record["values"], strict=True
        ):
            recorded.compare(name, value, wanted)
        assert not np.any(sess.run(found, {p: False, **feeds})[0])


@pytest.mark.parametrize("taken", [True, False])
def test_gradients_of_a_branch_taken_in_a_loop(taken: bool) -> None:
    record = OLD[f"cond, {str(taken).lower()}"]
    with tf.Graph().as_default(), tf.Session() as sess:
        ys, (x, _) = recorded.import_record(record)
        total = tf.while_loop(
            lambda i, a: i < 2,
            lambda i, a: (i + 1, a + tf.gradients(ys, x)[0]),
            [0, tf.zeros_like(x)],
        )[1]
        sess.run(tf.global_variables_initializer())
        value = sess.run(total, recorded.feeds_of(record))
    np.testing.assert_allclose(value, 2 * np.array(record["values"][2]["value"]), 1e-5)


@pytest.mark.parametrize("name", ["loop, scalar", "cond, true"])
def test_a_body_does_not_go_on_with_imported_control_flow(name: str) -> None:
    with tf.Graph().as_default():
        ys, xs = recorded.import_record(OLD[name])
        with pytest.raises(LookupError, match="outside of it"):
            tf.cond(
                tf.constant(True),
                lambda: tf.gradients(ys[0] * ys[0], xs[0])[0],
                lambda: xs[0],
            )


def test_a_gradient_is_exported_with_its_forward_loop() -> None:
    record = OLD["loop, scalar"]
    with tf.Graph().as_default():
        (y,), (x,) = recorded.import_record(record)
        name = tf.gradients(y, x)[0].name
        again = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.import_meta_graph(again)
        first = graph.get_tensor_by_name(name)
        (other,) = tf.gradients(
            graph.get_tensor_by_name(record["ys"][0]), graph.get_tensor_by_name("x:0")
        )
        values = sess.run([first, other], recorded.feeds_of(record))
    for value in values:
        recorded.compare("gradient", value, record["values"][1])


def test_a_call_that_names_a_gradient_of_another_process() -> None:
    """As `tf.function` of TensorFlow 1.15 marks its calls."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        square = tf.function(lambda v: v * v)
        tf.identity(square(x), name="y")
        graph_def = graph.as_graph_def()
    (call,) = [node for node in graph_def.node if "PartitionedCall" in node.op]
    call.attr["_gradient_op_type"].s = b"PartitionedCall-1234"
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        (gradient,) = tf.gradients(_tensor("y:0"), _tensor("x:0"))
        assert sess.run(gradient, {"x:0": 3.0}) == 6.0
