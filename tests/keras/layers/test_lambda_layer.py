"""`tf.keras.layers.Lambda`: its function, variables, shapes and configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.keras import tensor_types
from tests.client.session.sessions import run_initialized


def _double(x: Any) -> Any:
    return x * 2


def test_a_variable_of_the_function_is_one_weight() -> None:
    layer = tf.keras.layers.Lambda(lambda x: x * tf.Variable(2.0))
    first, second = layer(tf.constant(3.0)), layer(tf.constant(4.0))
    assert [w.op.name for w in layer.weights] == ["lambda/Variable"]
    assert layer.trainable_weights == layer.weights
    assert run_initialized([first, second]) == [6.0, 8.0]


@pytest.mark.parametrize(
    ("output_shape", "shape"),
    [(None, (2, 3)), (5, (2, 5)), ((4, 5), (2, 4, 5)), (lambda s: (s[0], 7), (2, 7))],
)
def test_shapes(output_shape: Any, shape: tuple[int, ...]) -> None:
    layer = tf.keras.layers.Lambda(_double, output_shape)
    assert layer.compute_output_shape((2, 3)).as_list() == list(shape)


def test_the_configuration_makes_an_equal_layer() -> None:
    layer = tf.keras.layers.Lambda(
        lambda x, factor=1: x * factor,
        output_shape=lambda s: s,
        mask=lambda x, mask: x > 0,
        arguments={"factor": 3},
    )
    config = layer.get_config()
    assert config["function_type"] == config["mask_type"] == "lambda"
    made = tf.keras.layers.Lambda.from_config(config)
    assert made.compute_output_shape((2, 3)).as_list() == [2, 3]
    x = tf.constant([-1.0, 2.0])
    found, mask = run_initialized([made(x), made.compute_mask(x)])
    assert found.tolist() == [-3.0, 6.0]
    assert mask.tolist() == [False, True]


def test_the_function_may_take_mask_and_training() -> None:
    seen: list[Any] = []

    def function(x: Any, mask: Any = None, training: Any = None) -> Any:
        seen.extend([mask, training])
        return x

    tf.keras.layers.Lambda(function)(tf.ones([2]), mask="mask", training=True)
    assert seen == ["mask", True]


def test_classes_that_count_as_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_types, "_types", set())

    class Deferred:
        pass

    assert tensor_types.is_symbolic_tensor(tf.zeros([]))
    assert not tensor_types.is_symbolic_tensor(np.zeros([]))
    assert not tensor_types.is_symbolic_tensor(Deferred())
    tensor_types.register_symbolic_tensor_type(Deferred)
    assert tensor_types.is_symbolic_tensor(Deferred())
