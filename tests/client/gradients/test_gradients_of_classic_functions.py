"""Functions whose bodies have loops and branches of classic nodes: their gradients.

TensorFlow 1.15 writes such bodies, and its SymbolicGradient gives zeros for their loops
and an error for their branches; here it gives the gradient.
"""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format

import tensorloom as tf
from tests.peer.cluster.template_graphs import called, function, inner, list_of, node

FLOAT, INT = "type: DT_FLOAT", "type: DT_INT32"


def constant(name: str, value: int, *controls: str) -> str:
    tensor = f"tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: {value} }}"
    return inner(name, "Const", controls, dtype=INT, value=tensor)


def enter(name: str, x: str, dtype: str, frame: str, shared: bool = False) -> str:
    return inner(
        name,
        "Enter",
        [x],
        T=dtype,
        frame_name=f's: "{frame}"',
        is_constant=f"b: {str(shared).lower()}",
    )


def loop(
    p: str, start: str, factor: str, count: int, within: str = "", around: str = ""
) -> str:
    """Nodes whose names begin with p: {p}out is start * factor ** count.

    `within` is the nodes of a loop in the body, named {p}in_, for more factors; it
    has names that begin with `around` for those of the loop that it is in.
    """
    multiplied = f"{p}in_out:output:0" if within else f"{p}sa:output_true:0"
    return (
        constant(f"{p}zero", 0, *([f"^{around}in"] if around else []))
        + enter(f"{p}i0", f"{p}zero:output:0", INT, p)
        + enter(f"{p}a0", start, FLOAT, p)
        + enter(f"{p}x", factor, FLOAT, p, shared=True)
        + inner(
            f"{p}i", "Merge", [f"{p}i0:output:0", f"{p}i1:output:0"], T=INT, N="i: 2"
        )
        + inner(
            f"{p}a", "Merge", [f"{p}a0:output:0", f"{p}a1:output:0"], T=FLOAT, N="i: 2"
        )
        + constant(f"{p}count", count, f"^{p}i")
        + inner(f"{p}less", "Less", [f"{p}i:output:0", f"{p}count:output:0"], T=INT)
        + inner(f"{p}test", "LoopCond", [f"{p}less:z:0"])
        + inner(f"{p}si", "Switch", [f"{p}i:output:0", f"{p}test:output:0"], T=INT)
        + inner(f"{p}sa", "Switch", [f"{p}a:output:0", f"{p}test:output:0"], T=FLOAT)
        + inner(f"{p}in", "Identity", [f"{p}si:output_true:0"], T=INT)
        + constant(f"{p}one", 1, f"^{p}in")
        + inner(f"{p}add", "Add", [f"{p}in:output:0", f"{p}one:output:0"], T=INT)
        + within
        + inner(f"{p}mul", "Mul", [multiplied, f"{p}x:output:0"], T=FLOAT)
        + inner(f"{p}i1", "NextIteration", [f"{p}add:z:0"], T=INT)
        + inner(f"{p}a1", "NextIteration", [f"{p}mul:z:0"], T=FLOAT)
        + inner(f"{p}rest", "Exit", [f"{p}si:output_false:0"], T=INT)
        + inner(f"{p}out", "Exit", [f"{p}sa:output_false:0"], T=FLOAT)
    )


def branch() -> str:
    """`out` is x * x for positive x, else 0 - x."""
    zero = "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0 }"
    return (
        inner("zero", "Const", [], dtype=FLOAT, value=zero)
        + inner("p", "Greater", ["x", "zero:output:0"], T=FLOAT)
        + inner("s", "Switch", ["x", "p:z:0"], T=FLOAT)
        + inner("sq", "Square", ["s:output_true:0"], T=FLOAT)
        + inner("neg", "Neg", ["s:output_false:0"], T=FLOAT)
        + inner("out", "Merge", ["neg:y:0", "sq:y:0"], T=FLOAT, N="i: 2")
    )


INNER = loop("o_in_", "o_sa:output_true:0", "o_x:output:0", 3, around="o_")
NESTED = loop("o_", "x", "x", 2, INNER)

#: By name: the body, and y and its gradient for x = 2 and x = -3.
BODIES = {
    "loop": (loop("w_", "x", "x", 3), "w_out", [(16, 32), (81, -108)]),
    "loop in a loop": (NESTED, "o_out", [(2**9, 9 * 2**8), (-(3**9), 9 * 3**8)]),
    "branch": (branch(), "out", [(4, 4), (3, -1)]),
}


def imported(name: str, by_attr: bool) -> tf.Graph:
    nodes, result, _ = BODIES[name]
    library = function(
        "f", [("x", FLOAT)], [("y", FLOAT)], [], nodes, y=f"{result}:output:0"
    )
    types = list_of(FLOAT)
    call = (
        node("y", "PartitionedCall", ["x"], Tin=types, Tout=types, f=called("f"))
        if by_attr
        else node("y", "f", ["x"])
    )
    x = node("x", "Placeholder", [], dtype=FLOAT, shape="shape { }")
    symbolic = node(
        "d",
        "SymbolicGradient",
        ["x", "x"],
        Tin=list_of(FLOAT, FLOAT),
        Tout=types,
        f=called("f"),
    )
    text = f"{x} {call} {symbolic} library {{ {library} }} versions {{ producer: 134 }}"
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="")
    return graph


@pytest.mark.parametrize("by_attr", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_gradients(name: str, by_attr: bool) -> None:
    wanted = BODIES[name][2]
    with imported(name, by_attr).as_default() as graph, tf.Session() as sess:
        x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("y:0")
        (gradient,) = tf.gradients(y, x)
        for value, (result, slope) in zip((2.0, -3.0), wanted, strict=True):
            assert sess.run([y, gradient], {x: value}) == [result, slope]
            # The gradients of results are its last inputs: here x itself.
            assert sess.run("d:0", {x: value}) == slope * value


def test_a_gradient_by_a_message_that_names_the_function() -> None:
    """`f` may be given as TensorFlow's message."""
    from tensorloom.protos.attr_value_pb2 import NameAttrList

    made: Any = tf.raw_ops.SymbolicGradient
    with imported("loop", False).as_default() as graph, tf.Session() as sess:
        x = graph.get_tensor_by_name("x:0")
        (gradient,) = made(
            input=[x, tf.ones_like(x)], Tout=[tf.float32], f=NameAttrList(name="f")
        )
        assert sess.run(gradient, {x: 2.0}) == 32
