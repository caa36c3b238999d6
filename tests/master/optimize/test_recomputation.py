"""Recomputation: gradients take less memory, and have the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.runtime import session_config
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.recomputation import recompute
from tests.master.graph_text import check

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

NONE, MANUAL, HEURISTICS, SWAPPING, CHEAP = 1, 2, 3, 4, 5
DEPTH = 30


def config(mode: int, optimizers: tuple[str, ...] = (), scope: str = "") -> Any:
    made = tf.ConfigProto()
    options = made.graph_options.rewrite_options
    options.memory_optimization = mode
    options.optimizers.extend(optimizers)
    options.memory_optimizer_target_node_name_scope = scope
    return made


def passed(mode: int, preserve: tuple[str, ...] = (), **options: Any) -> GraphIR:
    """The default graph after the pass."""
    decoded = session_config.from_proto(config(mode, **options)).optimizer
    target = OptimizeTarget(frozenset(preserve), decoded)
    graph = tf.get_default_graph().to_ir()
    if not target.allows("recomputation"):
        return graph
    made = recompute(graph, target)
    check(made)
    return made


def copies(graph: GraphIR) -> list[str]:
    return [name for name in graph.nodes if name.startswith("Recomputed/")]


def most_alive(graph: GraphIR) -> int:
    """The most values of the chain's size that are there at once, in graph order."""
    last: dict[tuple[str, int], int] = {}
    order = list(graph.nodes.values())
    for place, node in enumerate(order):
        last.update(dict.fromkeys(node.inputs, place))
    alive: set[tuple[str, int]] = set()
    most = 0
    for place, node in enumerate(order):
        large = [s.num_elements() == 64 for s in node.output_shapes or ()]
        alive |= {(node.name, i) for i, is_large in enumerate(large) if is_large}
        most = max(most, len(alive))
        alive = {edge for edge in alive if last.get(edge, 0) > place}
    return most


def cheap_chain(x: Any) -> Any:
    for number in range(DEPTH):
        x = tf.tanh(x + 0.01 * number)
    return x


def marked_chain(x: Any) -> Any:
    weights = tf.constant(np.random.RandomState(0).randn(8, 8) * 0.3, tf.float32)
    hint = {"_recompute_hint": tf.AttrValue(i=0)}
    for _ in range(DEPTH):
        with tf.get_default_graph()._attr_scope(hint):
            x = tf.sin(tf.matmul(x, weights))
    return x


def normalized(x: Any) -> Any:
    weights = tf.constant(np.random.RandomState(0).randn(8, 8), tf.float32)
    for _ in range(4):
        y = tf.reshape(tf.matmul(x, weights), [-1, 1, 1, 8])
        y = tf.nn.fused_batch_norm(y, tf.ones([8]), tf.zeros([8]))[0]
        x = tf.reshape(tf.nn.relu(y), [-1, 8])
    return x


def broadcast(x: Any) -> Any:
    """The gradients read sizes of what is computed again."""
    for _ in range(4):
        x = tf.sigmoid(x * tf.reduce_sum(x, 1, keepdims=True) + tf.square(x))
    return x


def dropped_out(x: Any) -> Any:
    for number in range(4):
        x = tf.nn.dropout(tf.tanh(x * 1.5), rate=0.5, seed=number + 1)
    return x


def on_two_devices(x: Any) -> Any:
    for number in range(6):
        with tf.device(f"/cpu:{number % 2}"):
            x = tf.tanh(tf.square(x) - 0.5)
    return x


CHAINS = [cheap_chain, marked_chain, normalized, broadcast, dropped_out, on_two_devices]


@pytest.mark.parametrize("chain", CHAINS)
def test_values_are_the_same(chain: Callable[[Any], Any]) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 8])
    y = chain(x)
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    loss = tf.reduce_sum(y * y * v)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    gradients = tf.gradients(loss, [x, v])
    assert copies(passed(CHEAP))
    feed = {x: np.random.RandomState(1).randn(8, 8)}
    found = []
    for mode in (NONE, MANUAL if chain is marked_chain else CHEAP):
        options = config(mode)
        options.device_count["CPU"] = 2
        with tf.Session(config=options) as session:
            session.run(tf.global_variables_initializer())
            session.run(step, feed)
            found.append(session.run([loss, *gradients, v], feed))
    for value, expected in zip(*found, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("chain", "mode", "limit"),
    [(cheap_chain, CHEAP, 16), (marked_chain, MANUAL, 17), (normalized, CHEAP, 13)],
)
def test_less_is_kept(chain: Callable[[Any], Any], mode: int, limit: int) -> None:
    x = tf.placeholder(tf.float32, [8, 8])
    tf.gradients(tf.reduce_sum(tf.square(chain(x))), x)
    before = most_alive(passed(NONE))
    after = most_alive(passed(mode))
    assert before > limit >= after, (before, after)


@pytest.mark.parametrize(
    ("mode", "options", "expected"),
    [
        (0, {}, set()),
        (NONE, {}, set()),
        (SWAPPING, {}, set()),
        (MANUAL, {}, {"marked"}),
        (CHEAP, {}, {"marked", "cheap"}),
        (HEURISTICS, {}, {"marked", "cheap"}),
        (CHEAP, {"scope": "other/"}, set()),
        (CHEAP, {"scope": "gradients/Tanh"}, {"marked", "cheap"}),
        (NONE, {"optimizers": ("memory",)}, {"marked"}),
        (CHEAP, {"optimizers": ("remap",)}, set()),
    ],
)
def test_who_asks_for_it(mode: int, options: Any, expected: set[str]) -> None:
    x = tf.placeholder(tf.float32, [8, 8])
    y = tf.tanh(tf.tanh(tf.exp(x), name="cheap") * 2.0)
    hint = {"_recompute_hint": tf.AttrValue(i=0)}
    with tf.get_default_graph()._attr_scope(hint):
        z = tf.sin(tf.exp(y), name="marked")
    tf.gradients(tf.sin(tf.exp(z)), x)
    found = {name.split("/")[-1] for name in copies(passed(mode, **options))}
    assert found & {"marked", "cheap"} <= expected
    assert bool(found) == bool(expected)


def test_copies_wait_for_the_gradient() -> None:
    x = tf.placeholder(tf.float32, [8, 8])
    with tf.control_dependencies([tf.no_op(name="before")]):
        y = tf.tanh(x, name="y")
    tf.gradients(tf.exp(tf.sqrt(tf.tanh(y * 2.0))), x)
    graph = passed(CHEAP)
    copy = graph.nodes["Recomputed/y"]
    waits = set(copy.control_inputs)
    assert "before" in waits
    assert any(name.startswith("gradients/") for name in waits)
    assert graph.nodes["mul"].inputs[0] == ("y", 0)  # what came first reads the first


def test_what_is_not_computed_again() -> None:
    x = tf.placeholder(tf.float32, [8, 8])
    ref = tf.Variable(np.ones([8, 8], np.float32), use_resource=False)
    hint = {"_recompute_hint": tf.AttrValue(i=0)}
    with tf.get_default_graph()._attr_scope(hint):
        y = tf.multiply(x, ref, name="reads_what_is_written")
        y = y * tf.random_uniform([8, 8], name="drawn")
        y = tf.sin(y, name="fetched")
        y = tf.sin(y, name="again")
    loss = tf.reduce_sum(y)
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    made = copies(passed(MANUAL, preserve=("fetched",)))
    assert "Recomputed/mul" in made
    left = ("reads_what_is_written", "fetched", "RandomUniform")
    assert not [name for name in made if name.endswith(left)]
