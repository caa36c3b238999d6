"""Function libraries that are wrong: what 1.15 says of them, and when it says it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

F, I = tf.float32, tf.int32  # noqa: E741


def _set(attr: Any, value: Any) -> None:
    if isinstance(value, list):
        attr.list.SetInParent()
        for item in value:
            if isinstance(item, tf.TensorShape):
                attr.list.shape.add().CopyFrom(item.as_proto())
            else:
                attr.list.type.append(item.as_datatype_enum)
    elif isinstance(value, tf.DType):
        attr.type = value.as_datatype_enum
    elif isinstance(value, np.ndarray):
        attr.tensor.CopyFrom(tf.make_tensor_proto(value))
    elif isinstance(value, bool):
        attr.b = value
    else:
        attr.func.name = value


def _node(name: str, op: str, *inputs: str, device: str = "", **attrs: Any) -> Any:
    node = tf.NodeDef(name=name, op=op, input=inputs, device=device)
    for key, value in attrs.items():
        _set(node.attr[key], value)
    return node


def _function(
    arguments: list[tuple[str, Any]],
    outputs: list[tuple[str, Any]],
    nodes: list[Any],
    returns: dict[str, str],
    name: str = "fn",
) -> Any:
    function = tf.GraphDef().library.function.add()
    function.signature.name = name
    for arg, dtype in arguments:
        function.signature.input_arg.add(name=arg, type=dtype.as_datatype_enum)
    for arg, dtype in outputs:
        function.signature.output_arg.add(name=arg, type=dtype.as_datatype_enum)
    function.node_def.extend(nodes)
    for key, value in returns.items():
        function.ret[key] = value
    return function


def _square(
    arguments: list[tuple[str, Any]] | None = None,
    outputs: list[tuple[str, Any]] | None = None,
    device: str = "",
    dtype: Any = F,
    operand: str = "a",
) -> Any:
    return _function(
        arguments or [("a", F)],
        outputs or [("b", F)],
        [_node("m", "Mul", operand, operand, T=dtype, device=device)],
        {"b": "m:z:0"},
    )


def _graph(call: Any, *functions: Any) -> Any:
    graph = tf.GraphDef()
    graph.versions.producer = 134
    graph.node.append(_node("x", "Const", dtype=F, value=np.array(3.0, np.float32)))
    graph.node.append(_node("p", "Const", dtype=tf.bool, value=np.array(True)))
    graph.node.append(_node("i", "Const", dtype=I, value=np.array(0, np.int32)))
    if call is not None:
        graph.node.append(call)
    graph.library.function.extend(functions)
    return graph


def _call(
    op: str = "PartitionedCall", inputs: str = "x", tout: Any = F, fn: str = "fn"
) -> Any:
    if op == "direct":
        return _node("y", fn, *inputs)
    return _node("y", op, *inputs, Tin=[F] * len(inputs), Tout=[tout], f=fn)


def _if(shapes: list[Any], tout: Any = F, op: str = "If", **attrs: Any) -> Any:
    return _node(
        "y",
        op,
        "p",
        "x",
        Tcond=tf.bool,
        Tin=[F],
        Tout=[tout],
        then_branch="fn",
        else_branch="fn",
        output_shapes=shapes,
        **attrs,
    )


_TWO_SHAPES = [tf.TensorShape([]), tf.TensorShape([])]
_INTEGER = [("b", I)]
_TWICE = [("a", F), ("a", F)]
# Refused when the graph is imported: ValueError.
AT_IMPORT = {
    "return_type": (_call(tout=I), _square(outputs=_INTEGER)),
    "return_type_stateful": (
        _call("StatefulPartitionedCall", tout=I),
        _square(outputs=_INTEGER),
    ),
    "return_type_direct": (_call("direct"), _square(outputs=_INTEGER)),
    "return_type_of_argument": (
        _call(tout=I),
        _function([("a", F)], _INTEGER, [], {"b": "a"}),
    ),
    "return_type_nested": (
        _call(fn="outer"),
        _square(outputs=_INTEGER),
        _function(
            [("a", F)],
            [("b", I)],
            [_node("c", "PartitionedCall", "a", Tin=[F], Tout=[I], f="fn")],
            {"b": "c:output:0"},
            name="outer",
        ),
    ),
    "type_in_body": (_call(), _square(dtype=I)),
    "arguments_twice": (_call(inputs="xx"), _square(arguments=_TWICE)),
    "arguments_twice_direct": (_call("direct", "xx"), _square(arguments=_TWICE)),
    "outputs_twice": (_call(tout=F), _square(outputs=[("b", F), ("b", F)])),
    "argument_without_name": (
        _call(),
        _function([("", F)], [("b", F)], [], {"b": ""}),
    ),
    "if_too_many_shapes": (_if(_TWO_SHAPES), _square()),
    "stateless_if_too_many_shapes": (_if(_TWO_SHAPES, op="StatelessIf"), _square()),
}


@pytest.mark.parametrize("case", AT_IMPORT.values(), ids=AT_IMPORT)
def test_refused_at_import(case: tuple[Any, ...]) -> None:
    call, *functions = case
    with pytest.raises(ValueError, match=r"fn|output_shapes"):
        tf.import_graph_def(_graph(call, *functions), name="")
    assert not tf.get_default_graph().get_operations()


# Refused when a step calls the function: InvalidArgumentError, with what the message
# has to name.
AT_RUN = {
    "branch": (_if([], tout=I), [_square(outputs=_INTEGER)], "'fn'.*'b'"),
    "unknown": (_call(fn="nope"), [], "nope"),
    "unknown_stateful": (_call("StatefulPartitionedCall", fn="nope"), [], "nope"),
    "device": (_call(), [_square(device="/job:nope")], "operation m: .*/job:nope"),
    "device_type": (_call(), [_square(device="/device:GPU:0")], "operation m: "),
    "malformed_device": (_call(), [_square(device="garbage")], "Malformed .*garbage"),
    "device_in_lowered_branch": (
        _if([], _lower_using_switch_merge=True),
        [_square(device="/device:CPU:7")],
        "operation m: ",
    ),
}


@pytest.mark.parametrize("case", AT_RUN.values(), ids=AT_RUN)
def test_refused_at_run(case: tuple[Any, list[Any], str]) -> None:
    call, functions, message = case
    tf.import_graph_def(_graph(call, *functions), name="")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run("y:0")
        assert sess.run("x:0") == 3.0


# What is wrong and does not matter.
ACCEPTED = {
    "uncalled_return_type": (_call(), _square(), _function(
        [("a", F)], _INTEGER, [], {"b": "a"}, name="other"
    )),
    "the_same_function_twice": (_call(), _square(), _square()),
    "argument_with_index": (_call(), _square(operand="a:0")),
    "device_in_branch": (_if([]), _square(device="/job:nope")),
    "device_in_direct_call": (_call("direct"), _square(device="/job:nope")),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(case: tuple[Any, ...]) -> None:
    call, *functions = case
    tf.import_graph_def(_graph(call, *functions), name="")
    with tf.Session() as sess:
        assert sess.run("y:0") == 9.0


@pytest.mark.parametrize(
    "gradients",
    [[("fn", "nope")], [("nope", "fn")], [("fn", "fn"), ("fn", "x")]],
    ids=["unknown", "of_unknown", "two"],
)
def test_gradients_that_are_not_in_the_library(gradients: list[Any]) -> None:
    graph = _graph(_call(), _square())
    for name, gradient in gradients:
        graph.library.gradient.add(function_name=name, gradient_func=gradient)
    with pytest.raises(ValueError, match="gradient"):
        tf.import_graph_def(graph, name="")


# Target of a RemoteCall -> the error; None where it runs.
TARGETS: dict[str, Any] = {
    "": None,
    "/cpu:0": None,
    "CPU:0": None,
    "/job:localhost/replica:0/task:0/device:CPU:0": None,
    "nonsense": tf.errors.InvalidArgumentError,
    "/device:CPU:7": tf.errors.InternalError,
    "/device:GPU:0": tf.errors.InternalError,
    "/job:worker/task:0/device:CPU:0": tf.errors.InternalError,
    "/job:localhost/task:5": tf.errors.InternalError,
    "/replica:1/cpu:0": tf.errors.InternalError,
}


@pytest.mark.parametrize("target", TARGETS)
def test_remote_calls(target: str) -> None:
    call = _node("y", "RemoteCall", "d", "x", Tin=[F], Tout=[F], f="fn")
    graph = _graph(call, _square())
    graph.node.append(
        _node("d", "Const", dtype=tf.string, value=np.array(target.encode(), object))
    )
    tf.import_graph_def(graph, name="")
    with tf.Session() as sess:
        if TARGETS[target] is None:
            assert sess.run("y:0") == 9.0
        else:
            with pytest.raises(TARGETS[target], match="device"):
                sess.run("y:0")
        assert sess.run("x:0") == 3.0


def test_colocation_groups_that_are_no_strings() -> None:
    graph = _graph(None)
    graph.node[0].attr["_class"].i = 3
    with pytest.raises(TypeError, match="_class"):
        tf.import_graph_def(graph, name="")


def _loop_nodes(frame: str) -> Any:
    graph = _graph(None)
    if frame == "none":
        graph.node.append(_node("y", "Merge", "x", "z", T=F))
        graph.node[-1].attr["N"].i = 2
        graph.node.append(_node("z", "NextIteration", "y", T=F))
    else:
        graph.node.append(_node("e", "Enter", "x", T=F))
        graph.node[-1].attr["frame_name"].s = frame.encode()
        graph.node.append(_node("y", "Exit", "e", T=F))
    return graph


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        ("none", tf.errors.InternalError, "already been set"),
        ("", tf.errors.InvalidArgumentError, "must have a frame name"),
    ],
    ids=["no_frame", "frame_without_name"],
)
def test_iterations_outside_of_frames(frame: str, error: Any, message: str) -> None:
    tf.import_graph_def(_loop_nodes(frame), name="")
    with tf.Session() as sess:
        with pytest.raises(error, match=message):
            sess.run("y:0")
        assert sess.run("x:0") == 3.0
