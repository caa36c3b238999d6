"""Products of many steps with one matrix are put together, and nothing else changes."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.optimize.fusion.unrolled_products import batch_unrolled_products
from tensorloom.master.optimize.target import OptimizeTarget
from tests.master.graph_text import check, evaluate, parse, render

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

STEPS = 5
_HEAD = """
w = _Arg<float32[128,80]>
x = _Arg<float32[128,48]>
h0 = _Arg<float32[128,80]>
axis = Const<1>
"""
# The cut of d{i} into what is waited for by the step before, and what is not.
_CUTS = """
begin = Const<[0, 0]>
width = Const<[128, 48]>
middle = Const<[0, 48]>
rest = Const<[-1, -1]>
"""


def forward(steps: int = STEPS, **lines: str) -> str:
    """Steps that multiply [input, state] by one matrix.

    `lines` takes the place of the lines that define these names.
    """
    text = _HEAD.strip().splitlines()
    for i in range(steps):
        text += [
            f"e{i} = Exp({'x' if i == 0 else f'e{i - 1}'})",
            f"x{i} = Sin(e{i})",
            f"c{i} = ConcatV2(x{i}, h{i}, axis)",
            f"y{i} = MatMul(c{i}, w)",
            f"h{i + 1} = Tanh(y{i})",
        ]
    text.append(f"r = _Retval(h{steps})")
    return replaced(text, lines)


def backward(steps: int = STEPS, **lines: str) -> str:
    """Their gradients, as far as the inputs and the first state."""
    text = (_HEAD + _CUTS).replace("h0", "g0").split("\n")
    for i in range(steps):
        text += [
            f"d{i} = MatMul(g{i}, w) {{transpose_b=True}}",
            f"dx{i} = Slice(d{i}, begin, width)",
            f"dh{i} = Slice(d{i}, middle, rest)",
            f"g{i + 1} = Tanh(dh{i})",
        ]
    inputs = ", ".join(f"dx{i}" for i in range(steps))
    text += [f"all = ConcatV2({inputs}, axis)", "s = _Retval(all)"]
    return replaced([*text, f"r = _Retval(g{steps})"], lines)


def replaced(text: list[str], lines: dict[str, str]) -> str:
    return "\n".join(lines.get(line.partition(" = ")[0], line) for line in text if line)


def batched(text: str, *preserve: str) -> GraphIR:
    graph = parse(text)
    after = batch_unrolled_products(graph, OptimizeTarget(frozenset(preserve)))
    check(after)
    assert render(graph) == render(parse(text)), "the argument has changed"
    again = batch_unrolled_products(after, OptimizeTarget(frozenset(preserve)))
    assert render(again) == render(after)
    return after


def ops(graph: GraphIR) -> Counter[str]:
    return Counter(node.op for node in graph.nodes.values())


def assert_same_values(text: str, after: GraphIR) -> None:
    random = np.random.RandomState(0)
    shapes = [(128, 80), (128, 48), (128, 80)]
    arguments = [random.randn(*shape).astype(np.float32) / 8 for shape in shapes]
    before = evaluate(parse(text), arguments)
    for got, wanted in zip(evaluate(after, arguments), before, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_inputs_are_multiplied_together() -> None:
    after = batched(forward())
    found = ops(after)
    wanted = {"MatMul": 1, "_FusedMatMul": STEPS, "ConcatV2": 1, "Split": 1, "Slice": 2}
    assert {op: found[op] for op in wanted} == wanted
    assert_same_values(forward(), after)


def test_gradients_of_inputs_are_multiplied_together() -> None:
    after = batched(backward())
    found = ops(after)
    wanted = {"MatMul": STEPS + 1, "ConcatV2": 2, "Split": 1, "Slice": 2}
    assert {op: found[op] for op in wanted} == wanted
    assert_same_values(backward(), after)


def test_fetched_nodes_keep_their_names() -> None:
    after = batched(forward(), "y2", "c2")
    assert after.nodes["y2"].op == "_FusedMatMul"
    assert after.nodes["c2"].op == "ConcatV2"


def test_a_gradient_that_is_fetched_stays_alone() -> None:
    after = batched(backward(), "dx2")
    assert after.nodes["dx2"].op == "Slice"
    assert {n: n in after.nodes for n in ("d2", "d1")} == {"d2": True, "d1": False}
    assert_same_values(backward(), after)


_FROM_STATE = """axis = Const<1>
begin = Const<[0, 0]>
width = Const<[128, 48]>"""
_WRITER = """y2 = MatMul(c2, w)
t = MutableHashTableV2 {key_dtype='int32'; value_dtype='int32'}
one = Const<1>
write = LookupTableInsertV2(t, one, one)"""

STAYS = {
    "few steps": forward(3),
    "a product waits": forward(4, y1="y1 = MatMul(c1, w, ^x)"),
    "a pair waits": forward(4, c1="c1 = ConcatV2(x1, h1, axis, ^x)"),
    "two matrices": forward(
        4, axis="axis = Const<1>\nu = Neg(w)", y1="y1 = MatMul(c1, u)"
    ),
    "two devices": forward(4, y1="y1 = MatMul(c1, w) @/device:CPU:1"),
    "shapes not known": forward(x="x = _Arg<float32[?,48]>"),
    "many rows": forward()
    .replace("[128,48]", "[256,48]")
    .replace("h0 = _Arg<float32[128", "h0 = _Arg<float32[256"),
    "little work": forward()
    .replace("[128,48]", "[8,48]")
    .replace("h0 = _Arg<float32[128", "h0 = _Arg<float32[8"),
    "an input follows from a state": forward(
        axis=_FROM_STATE, x2="x2 = Slice(h1, begin, width)"
    ),
    "something is written between": forward(y2=_WRITER),
    "much memory": forward(w="w = _Arg<float32[60048,60000]>").replace("80]", "60000]"),
    "few gradients": backward(3),
    "a gradient is read as a whole": backward(4, g2="g2 = Tanh(dh1)\nq = _Retval(d1)"),
    "gradients are waited for": backward(4, g3="g3 = Tanh(dh2, ^dx2)"),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_graph_stays(text: str) -> None:
    assert render(batched(text)) == render(parse(text))


def test_two_groups_that_wait_for_each_other() -> None:
    # The inputs of either could go first, but not those of both.
    head = {"axis": f"{_FROM_STATE}\nu = Neg(w)"}
    one = forward(4, x3="x3 = Slice(k1, begin, width)", **head).splitlines()
    other = forward(4, x3="x3 = Slice(l1, begin, width)", **head).replace(
        ", w)", ", u)"
    )
    names = {"h1": "k1", "h2": "k2", "h3": "k3", "h4": "k4", "l1": "h1", "r": "s"}
    names |= {f"{c}{i}": f"{c}{c}{i}" for c in "excy" for i in range(4)}
    other = re.sub(r"\b\w+\b", lambda m: names.get(m[0], m[0]), other)
    text = one[:7]
    for start in range(7, 27, 5):
        text += one[start : start + 5] + other.splitlines()[start : start + 5]
    whole = "\n".join([*text, one[-1], other.splitlines()[-1]])
    after = batched(whole)
    assert ops(after)["_FusedMatMul"] == 4
    assert_same_values(whole, after)


# --- whole networks -------------------------------------------------------------------


def gradients_of(cell: Any, layers: int) -> tuple[list[Any], tf.Tensor]:
    """The loss of an unrolled network and its gradients; what to feed."""
    x = tf.placeholder(tf.float32, [STEPS, 64, 128])
    inputs = tf.unstack(x)
    for layer in range(layers):
        with tf.variable_scope(f"layer{layer}"):
            outputs, _ = tf.nn.static_rnn(cell(128), inputs, dtype=tf.float32)
        inputs = outputs
    loss = tf.reduce_sum(tf.square(outputs[-1] + outputs[1]))
    return [loss, *tf.gradients(loss, [x, *tf.trainable_variables()])], x


def run(fetches: list[Any], feed: dict[Any, Any], off: bool) -> tuple[list[Any], Any]:
    """The values, and how many nodes of each op computed them."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = off
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        values = session.run(fetches, feed, options=options, run_metadata=metadata)
    return values, Counter(n.op for g in metadata.partition_graphs for n in g.node)


@pytest.mark.parametrize(
    ("cell", "layers", "products"),
    [
        # Of the inputs' gradient, the states', and the two parts of the matrix'.
        (tf.nn.rnn_cell.BasicLSTMCell, 1, 1 + (STEPS - 1) + 2),
        (tf.nn.rnn_cell.BasicRNNCell, 1, 1 + (STEPS - 1) + 2),
        (tf.nn.rnn_cell.BasicLSTMCell, 2, 2 * (1 + (STEPS - 1) + 2)),
        (tf.nn.rnn_cell.GRUCell, 1, None),  # two matrices, and sums of gradients
    ],
)
def test_networks(cell: Any, layers: int, products: int | None) -> None:
    tf.set_random_seed(1)
    fetches, x = gradients_of(cell, layers)
    feed = {x: np.random.RandomState(0).randn(STEPS, 64, 128)}
    values, found = run(fetches, feed, off=False)
    wanted, _ = run(fetches, feed, off=True)
    for got, value in zip(values, wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-3, atol=1e-4)
    if products is not None:
        assert found["MatMul"] == products
        assert found["_FusedMatMul"] == (STEPS + 1) * layers
        assert not found["_SumOfMatMuls"]
        assert found["BiasAddGrad"] == layers
