"""Functions that were added: called by name, as attrs, by control flow and datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.eager import Context, EagerOperation
from tensorloom.framework.registry.op_policy import OpPolicy
from tensorloom.protos import function_pb2


def _library(*functions: Any) -> list[function_pb2.FunctionDef]:
    """The messages of functions, and of those that they call."""
    graph = tf.Graph()
    for function in functions:
        function.add_to_graph(graph)
    return list(graph.as_graph_def().library.function)


@Defun(tf.float32, func_name="Twice")
def twice(x: Any) -> Any:
    return x * 2.0


@Defun(tf.float32, func_name="FourTimes")
def four_times(x: Any) -> Any:
    return twice(twice(x))


@Defun(tf.float32, func_name="Small")
def is_small(x: Any) -> Any:
    return tf.less(x, 100.0)


@Defun(tf.float32, func_name="Classic")
def classic(x: Any) -> Any:
    """Has a loop of Enter, Merge, Switch and the like."""
    with tf.control_dependencies([x]):
        return tf.raw_ops.Exit(data=tf.raw_ops.Enter(data=x, frame_name="f")) + 1.0


@Defun(tf.int64, func_name="Squared")
def squared(x: Any) -> Any:
    return x * x


@Defun(tf.resource, func_name="Count")
def count(variable: Any) -> Any:
    one = tf.constant(1, tf.int64)
    update = tf.raw_ops.AssignAddVariableOp(resource=variable, value=one)
    with tf.control_dependencies([update]):
        return tf.raw_ops.ReadVariableOp(resource=variable, dtype=tf.int64)


@Defun(tf.float32, func_name="Reads")
def reads(x: Any) -> Any:
    content = tf.raw_ops.ReadFile(filename="/nowhere")
    with tf.control_dependencies([content]):
        return x + 1.0


@Defun(tf.float32, func_name="Fails")
def fails(x: Any) -> Any:
    return tf.raw_ops.Reshape(tensor=x, shape=[3])


def _with(context: Context, *functions: Any) -> Context:
    for definition in _library(*functions):
        context.add_function(definition)
    return context


FLOATS = {"Tout": [tf.float32]}
# (op, inputs, attrs, result)
CALLS: list[tuple[str, Callable[[Any], list[Any]], dict[str, Any], float]] = [
    ("Twice", lambda x: [x(3.0)], {}, 6.0),
    ("FourTimes", lambda x: [x(3.0)], {}, 12.0),
    ("Classic", lambda x: [x(3.0)], {}, 4.0),
    ("PartitionedCall", lambda x: [[x(3.0)]], {"f": "FourTimes", **FLOATS}, 12.0),
    ("StatefulPartitionedCall", lambda x: [[x(3.0)]], {"f": "Twice", **FLOATS}, 6.0),
    (
        "If",
        lambda x: [x(True), [x(3.0)]],
        {"then_branch": "Twice", "else_branch": "FourTimes", **FLOATS},
        6.0,
    ),
    (
        "StatelessIf",
        lambda x: [x(0), [x(3.0)]],
        {"then_branch": "Twice", "else_branch": "FourTimes", **FLOATS},
        12.0,
    ),
    ("While", lambda x: [[x(3.0)]], {"cond": "Small", "body": "Twice"}, 192.0),
    (
        "Case",
        lambda x: [x(1), [x(3.0)]],
        {"branches": ["Twice", "FourTimes"], **FLOATS},
        12.0,
    ),
]


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "wanted"), CALLS, ids=[row[0] for row in CALLS]
)
def test_calls(
    context: Context,
    op: str,
    inputs: Callable[[Any], list[Any]],
    attrs: dict[str, Any],
    wanted: float,
) -> None:
    _with(context, twice, four_times, is_small, classic)
    for _ in range(2):
        (result,) = context.execute(op, inputs(context.handle), attrs)
        assert result.numpy() == wanted


def test_a_function_that_a_dataset_calls(context: Context) -> None:
    _with(context, squared)
    kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
    bounds = [context.handle(n, tf.int64) for n in (1, 4, 1)]
    (numbers,) = context.execute("RangeDataset", bounds, kinds)
    (squares,) = context.execute("MapDataset", [numbers, []], {"f": "Squared", **kinds})
    iterator, _ = context.execute("AnonymousIteratorV2", [], kinds)
    context.execute("MakeIterator", [squares, iterator])
    got = [
        context.execute("IteratorGetNext", [iterator], kinds)[0].numpy()
        for _ in range(3)
    ]
    assert got == [1, 4, 9]


def test_a_function_that_changes_a_variable(context: Context) -> None:
    _with(context, count)
    attrs = {"dtype": tf.int64, "shape": []}
    (variable,) = context.execute("VarHandleOp", [], attrs)
    context.execute("AssignVariableOp", [variable, context.handle(5, tf.int64)])
    call = {"f": "Count", "Tout": [tf.int64]}
    for wanted in (6, 7):
        (value,) = context.execute("StatefulPartitionedCall", [[variable]], call)
        assert value.numpy() == wanted


def test_a_function_with_attrs(context: Context) -> None:
    definition = function_pb2.FunctionDef()
    signature = definition.signature
    signature.name = "AnyTwice"
    signature.input_arg.add(name="x", type_attr="T")
    signature.output_arg.add(name="y", type_attr="T")
    signature.attr.add(name="T", type="type")
    node = definition.node_def.add(name="add", op="AddV2", input=["x", "x"])
    node.attr["T"].placeholder = "T"
    definition.ret["y"] = "add:z:0"
    context.add_function(definition.SerializeToString())
    for value, dtype in ((2.5, tf.float32), (3, tf.int32)):
        made = EagerOperation(context, "AnyTwice")
        made.set_attr("T", dtype)
        made.add_input(context.handle(value))
        assert made.run()[0].numpy() == 2 * value


# --- the library ---------------------------------------------------------------------


def test_functions_come_and_go(context: Context) -> None:
    (definition,) = _library(twice)
    context.add_function(definition)
    context.add_function(definition.SerializeToString())  # the same again
    assert context.has_function("Twice")
    x = context.handle(1.0)
    assert context.execute("Twice", [x])[0].numpy() == 2
    context.remove_function("Twice")
    assert not context.has_function("Twice")
    with pytest.raises(tf.errors.NotFoundError, match="'Twice' is neither"):
        context.execute("Twice", [x])
    with pytest.raises(tf.errors.NotFoundError, match="'Twice'"):
        context.remove_function("Twice")
    next(n for n in definition.node_def if n.op == "Mul").op = "Sub"
    context.add_function(definition)
    assert context.execute("Twice", [x])[0].numpy() == -1


def test_a_function_may_come_after_its_caller(context: Context) -> None:
    definitions = {d.signature.name: d for d in _library(four_times)}
    context.add_function(definitions["FourTimes"])
    x = context.handle(1.0)
    with pytest.raises(tf.errors.OpError, match="Twice"):
        context.execute("FourTimes", [x])
    context.add_function(definitions["Twice"])
    assert context.execute("FourTimes", [x])[0].numpy() == 4


def _renamed(name: str) -> function_pb2.FunctionDef:
    (definition,) = _library(is_small)
    definition.signature.name = name
    return definition


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (lambda: _renamed("Twice"), "different function with the same name"),
        (lambda: _renamed("MatMul"), "op with the same name"),
        (lambda: _renamed(""), "without a name"),
        (lambda: b"\xff\xff", "Invalid FunctionDef proto"),
    ],
)
def test_functions_that_cannot_be_added(
    context: Context, definition: Callable[[], Any], text: str
) -> None:
    _with(context, twice)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        context.add_function(definition())


@pytest.mark.parametrize(
    ("inputs", "attrs", "error", "text"),
    [
        ([[1.0]], {"f": "None", **FLOATS}, "NotFound", "Function None is not defined"),
        ([[1]], {"f": "Twice", **FLOATS}, "InvalidArgument", "float32 but int32"),
        ([[]], {"f": "Twice", **FLOATS}, "InvalidArgument", "expects 1 arguments"),
        ([[[1.0]]], {"f": "Fails", **FLOATS}, "InvalidArgument", "reshape"),
        ([[1.0]], {"f": "Reads", **FLOATS}, "NotFound", "/nowhere"),
    ],
)
def test_calls_that_fail(
    context: Context, inputs: Any, attrs: dict[str, Any], error: str, text: str
) -> None:
    _with(context, twice, fails, reads)
    given = [[context.handle(item) for item in items] for items in inputs]
    for _ in range(2):
        with pytest.raises(getattr(tf.errors, f"{error}Error"), match=text):
            context.execute("PartitionedCall", given, attrs)


def test_a_policy_is_for_functions_too() -> None:
    denied = pytest.raises(tf.errors.PermissionDeniedError, match="ReadFile")
    with _with(Context(op_policy=OpPolicy(["safe"])), reads) as context, denied:
        context.execute("Reads", [context.handle(1.0)])


def test_results_keep_their_values(context: Context) -> None:
    """What a function gave is not overwritten by its next call."""
    _with(context, twice)
    x = context.handle(np.arange(10000.0), tf.float32)
    (first,) = context.execute("Twice", [x])
    (second,) = context.execute("Twice", [first])
    np.testing.assert_array_equal(first.numpy() * 2, second.numpy())
    np.testing.assert_array_equal(x.numpy(), np.arange(10000))
