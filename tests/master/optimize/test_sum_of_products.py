"""A sum of products over rows becomes one product, where nobody sees the difference."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize.fusion.sum_of_products import sum_products
from tensorloom.master.optimize.target import OptimizeTarget

STEPS = 4


def node(name: str, op: str, inputs: list[str], shape: list[int], **attrs) -> Node:
    return Node(
        name,
        op,
        tuple((i, 0) for i in inputs),
        (),
        "",
        {"T": dtypes.float32, **attrs},
        (dtypes.float32,),
        (TensorShape(shape),),
        None,
    )


def graph_of(transpose_a: bool = True, reader: bool = False) -> GraphIR:
    nodes = [node(f"a{i}", "_Arg", [], [i + 1, 3]) for i in range(STEPS)]
    nodes += [node(f"b{i}", "_Arg", [], [i + 1, 5]) for i in range(STEPS)]
    attrs = {"transpose_a": transpose_a, "transpose_b": False}
    nodes += [
        node(f"p{i}", "MatMul", [f"a{i}", f"b{i}"], [3, 5], **attrs)
        for i in range(STEPS)
    ]
    products = [f"p{i}" for i in range(STEPS)]
    nodes.append(node("sum", "AddN", products, [3, 5], N=STEPS))
    if reader:
        nodes.append(node("reader", "Neg", ["p1"], [3, 5]))
    return GraphIR({n.name: n for n in nodes})


def ops_of(graph: GraphIR, preserve: tuple[str, ...] = ("sum",)) -> list[str]:
    after = sum_products(graph, OptimizeTarget(preserve=frozenset(preserve)))
    return [n.op for n in after.nodes.values() if n.op != "_Arg"]


def test_products_are_replaced() -> None:
    assert ops_of(graph_of()) == ["_SumOfMatMuls"]


@pytest.mark.parametrize(
    ("graph", "preserve"),
    [
        (graph_of(transpose_a=False), ("sum",)),
        (graph_of(reader=True), ("sum", "reader")),
        (graph_of(), ("sum", "p2")),
    ],
    ids=["not over rows", "another reader", "a product is fetched"],
)
def test_graph_stays(graph: GraphIR, preserve: tuple[str, ...]) -> None:
    assert ops_of(graph, preserve).count("MatMul") == STEPS


def test_values() -> None:
    random = np.random.RandomState(0)
    rows = random.randn(STEPS, 2, 3).astype(np.float32)
    start = random.randn(3, 3).astype(np.float32)
    x = tf.placeholder(tf.float32, [STEPS, 2, 3])
    kernel = tf.constant(start)
    h = tf.zeros([2, 3])
    for step in tf.unstack(x):
        h = tf.tanh(tf.matmul(step + h, kernel))
    (gradient,) = tf.gradients(h, kernel)
    off = tf.ConfigProto()
    off.graph_options.rewrite_options.disable_meta_optimizer = True
    results = []
    for config in (None, off):
        with tf.Session(config=config) as session:
            results.append(session.run(gradient, {x: rows}))
    np.testing.assert_allclose(*results, rtol=2e-5, atol=1e-6)
