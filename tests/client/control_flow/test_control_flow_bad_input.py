"""Loops without end, functions that call themselves: errors, and a sound session."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.master.run import master
from tensorloom.protos import attr_value_pb2, function_pb2, graph_pb2, types_pb2

SOON = tf.RunOptions(timeout_in_ms=100)


def _forever(x: Any) -> Any:
    return tf.while_loop(lambda i: i > -1.0, lambda i: i + x * 0.0, [x])


def _forever_by_primitives(x: Any) -> Any:
    start = tf.raw_ops.Enter(data=x, frame_name="forever")
    merged = tf.raw_ops.Merge(inputs=[start, start])[0]
    goes_on = tf.raw_ops.LoopCond(input=merged >= merged)
    end, again = tf.raw_ops.Switch(data=merged, pred=goes_on)
    back = tf.raw_ops.NextIteration(data=again * again)
    merged.op._update_input(1, back)
    return tf.raw_ops.Exit(data=end)


ENDLESS: dict[str, Any] = {
    "while": _forever,
    "gradient": lambda x: tf.gradients(_forever(x), x)[0],
    "map_fn": lambda x: tf.map_fn(_forever, x + tf.zeros([2])),
    "cond": lambda x: tf.cond(x > 0, lambda: _forever(x), lambda: x),
    "tensors": lambda x: tf.while_loop(
        lambda a: tf.reduce_sum(a) < 1e30,
        lambda a: tf.matmul(a, a) * 0.0,
        [x + tf.zeros([80, 80])],
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_loop_without_end_meets_its_deadline(name: str) -> None:
    x = tf.placeholder_with_default(1.0, [])
    endless = ENDLESS[name](x)
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(endless, options=SOON)
            assert sess.run(x + 1.0) == 2.0


@pytest.mark.parametrize("interpreted", [False, True])
def test_so_does_one_of_primitives(
    interpreted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if interpreted:
        monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    x = tf.placeholder_with_default(1.0, [])
    endless = _forever_by_primitives(x)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(endless, options=SOON)
        assert sess.run(x + 1.0) == 2.0


def _calls_itself(through: str) -> graph_pb2.GraphDef:
    """y = A(x), where A calls itself, as an op of its own or by PartitionedCall."""
    graph_def = graph_pb2.GraphDef()
    dtype = attr_value_pb2.AttrValue(type=types_pb2.DT_FLOAT)
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].CopyFrom(dtype)
    graph_def.node.add(name="y", op="A", input=["x"])
    function = function_pb2.FunctionDef()
    function.signature.name = "A"
    function.signature.input_arg.add(name="a", type=types_pb2.DT_FLOAT)
    function.signature.output_arg.add(name="b", type=types_pb2.DT_FLOAT)
    node = function.node_def.add(name="r", op=through, input=["a"])
    output = "b"
    if through == "PartitionedCall":
        output = "output"
        node.attr["f"].func.name = "A"
        for attr in ("Tin", "Tout"):
            node.attr[attr].list.type.append(types_pb2.DT_FLOAT)
    function.ret["b"] = f"r:{output}:0"
    graph_def.library.function.append(function)
    return graph_def


@pytest.mark.parametrize("through", ["A", "PartitionedCall"])
def test_recursion_without_end(through: str) -> None:
    tf.import_graph_def(_calls_itself(through), name="")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="recursion depth"):
            sess.run("y:0", {"x:0": 1.0})
        assert sess.run("x:0", {"x:0": 1.0}) == 1.0


WRONG_LOOPS: list[tuple[type[Exception], str, Any]] = [
    (ValueError, "same number of elements|nested structure", lambda i: (i, i)),
    (TypeError, "enters the loop with type", lambda i: tf.cast(i, tf.float32)),
    (ValueError, "has shape", lambda i: tf.stack([i, i])),
    (ValueError, "None values not supported", lambda i: None),
]


@pytest.mark.parametrize(("kind", "message", "body"), WRONG_LOOPS)
def test_bodies_that_change_their_variables(
    kind: type[Exception], message: str, body: Any
) -> None:
    with pytest.raises(kind, match=message):
        tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    with tf.Session() as sess:
        assert sess.run(tf.constant(1) + 1) == 2
