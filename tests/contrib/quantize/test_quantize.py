"""`tf.contrib.quantize`: folded normalizations, rounded values, kept ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.quantize import fake_quantization
from tensorloom.contrib.quantize.graph_patterns import GraphMatcher, OpTypePattern

layers = tf.contrib.layers
quantize = tf.contrib.quantize
_IMAGES: Any = np.random.RandomState(0).randn(8, 6, 6, 2).astype(np.float32)


def _layer(x: Any, training: bool, fused: bool = True) -> Any:
    params = {"is_training": training, "fused": fused, "decay": 0.5, "scale": True}
    return layers.conv2d(
        x, 3, 3, normalizer_fn=layers.batch_norm, normalizer_params=params
    )


def _run(fetches: Any, before: Any = ()) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for some in before:
            session.run(some)
        return session.run(fetches)


def _near(a: Any, b: Any, levels: float) -> None:
    """Equal but for so many of 255 levels of the range."""
    assert np.max(np.abs(a - b)) <= levels * (np.max(b) - np.min(b)) / 255


@pytest.mark.parametrize("fused", [True, False])
def test_the_rewritten_layer_is_the_layer_rounded(fused: bool) -> None:
    values = []
    for rewritten in (False, True):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            y = tf.identity(_layer(tf.constant(_IMAGES), True, fused), name="end") * 1.0
            if rewritten:
                quantize.create_training_graph()
            values.append(_run(y))
    _near(values[1], values[0], 6.0)
    assert np.any(values[0] != values[1])


def test_values_have_256_levels_and_fewer_bits_less() -> None:
    for bits in (8, 4):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            _layer(tf.constant(_IMAGES), True) * 2.0
            quantize.experimental_create_training_graph(activation_bits=bits)
            rounded = graph.get_tensor_by_name(
                "Conv/act_quant/FakeQuantWithMinMaxVars:0"
            )
            ends = [v for v in tf.global_variables() if "act_quant/m" in v.op.name]
            assigned, found = _run([rounded, ends], [rounded])[0], len(ends)
            assert found == 6  # min and max, each with two of its moving average
            assert len(np.unique(assigned)) <= 2**bits


def test_nothing_is_rounded_before_the_delay() -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.constant(_IMAGES)
        y = layers.conv2d(x, 3, 3) + 0.0
        quantize.create_training_graph(quant_delay=3)
        step = tf.get_default_graph().get_tensor_by_name("fake_quantization_step:0")
        sums = tf.reduce_sum(y)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = [session.run(sums) for _ in range(5)]
            assert session.run(step) == 5
    assert found[0] == found[1]
    assert found[0] != found[3]


def test_gradients_pass_through_what_is_rounded() -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        y = _layer(tf.constant(_IMAGES), True)
        loss = tf.reduce_mean(tf.square(tf.identity(y) - 0.5))
        quantize.create_training_graph()
        grads = tf.gradients(loss, tf.trainable_variables())
        assert all(np.any(g != 0) for g in _run(grads))


def test_statistics_are_frozen_after_the_delay() -> None:
    with tf.Graph().as_default():
        _layer(tf.constant(_IMAGES), True) * 1.0
        quantize.experimental_create_training_graph(freeze_bn_delay=3)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        (moving,) = (v for v in tf.global_variables() if "moving_mean" in v.op.name)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            means = []
            for _ in range(5):
                session.run(updates)
                means.append(session.run(moving))
    assert np.any(means[0] != means[-1])
    np.testing.assert_array_equal(means[-1], means[-2])


def test_a_graph_with_an_optimizer_is_refused() -> None:
    with tf.Graph().as_default():
        loss = tf.square(tf.get_variable("v", []))
        tf.train.AdamOptimizer().minimize(loss)
        with pytest.raises(ValueError, match=r"Training op found.*ApplyAdam"):
            quantize.create_training_graph()


def test_other_scopes_stay() -> None:
    with tf.Graph().as_default():
        x = tf.constant(_IMAGES)
        for name in ("a", "b"):
            with tf.variable_scope(name):
                x = tf.nn.relu(layers.conv2d(x, 3, 3))
        quantize.experimental_create_eval_graph(scope="b")
        made = {
            v.op.name.split("/")[0]
            for v in tf.global_variables()
            if "quant" in v.op.name
        }
    assert made == {"b"}


@pytest.mark.parametrize("quantized", ["last_value_quantize", "moving_avg_quantize"])
@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 2, 2, 3)])
def test_ranges_of_channels(quantized: str, shape: tuple[int, ...]) -> None:
    with tf.Graph().as_default():
        values = np.random.RandomState(0).randn(*shape).astype(np.float32)
        function = getattr(fake_quantization, quantized)
        rounded = function(tf.constant(values), per_channel=True, symmetric=True)
        assert [v.shape.as_list() for v in tf.global_variables()[:2]] == [[3], [3]]
        assert _run(rounded).shape == shape


def test_patterns_find_inputs_in_any_order() -> None:
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0, name="a"), tf.placeholder(tf.float32, [], name="b")
        tf.add(b, a, name="sum")
        constant = OpTypePattern("Const", name="c")
        pattern = OpTypePattern("Add|AddV2", inputs=[constant, "*"])
        either = OpTypePattern(
            "Add|AddV2", inputs=[constant, "*"], ordered_inputs=False
        )
        assert not list(GraphMatcher(pattern).match_graph(graph))
        (found,) = GraphMatcher(either).match_graph(graph)
    assert (found.get_op("c"), found.get_tensor(constant)) == (a.op, a)
    assert found.get_op("unknown") is None
    with pytest.raises(ValueError, match="Expect Pattern or str"):
        found.get_op(1)  # type: ignore[arg-type]
