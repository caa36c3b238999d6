"""Networks: the names of their variables, their checkpoints, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

tfe: Any = tf.contrib.eager


class Two(tfe.Network):  # type: ignore[misc]
    """Two layers."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.one = self.track_layer(tf.layers.Dense(2))
        self.two = self.track_layer(tf.layers.Dense(1, name="last"))

    def call(self, x: Any) -> Any:
        return self.two(self.one(x))


class Outer(tfe.Network):  # type: ignore[misc]
    """A network in a network."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = self.track_layer(Two())

    def call(self, x: Any) -> Any:
        return self.inner(x)


def test_names_follow_the_nesting() -> None:
    with tf.variable_scope("v"):
        outer = Outer()
    outer(tf.ones([1, 3]))
    prefix = "v/outer/two/"
    assert [v.name for v in outer.variables] == [
        f"{prefix}{name}:0"
        for name in ("dense/kernel", "dense/bias", "last/kernel", "last/bias")
    ]
    assert outer.name == outer.scope_name == "v/outer"
    assert outer.inner.get_layer("last") is outer.inner.two


def test_a_sequence_of_layers_and_functions() -> None:
    def scaled(x: Any, training: bool = False) -> Any:
        return x * (10 if training else 1)

    net = tfe.Sequential([lambda x: x + 1, scaled, lambda x: 2 * x])
    x = tf.ones([2])
    used, trained = net(x), net(x, training=True)
    with tf.Session() as session:
        assert session.run(used).tolist() == [4, 4]
        assert session.run(trained).tolist() == [40, 40]


@pytest.mark.parametrize("is_called_before", [True, False])
def test_checkpoints_restore_what_is_there_and_what_comes(
    is_called_before: bool, tmp_path: Any
) -> None:
    x = tf.ones([1, 3])
    with tf.Session() as session:
        saved, other = Two(), Two("other")
        want = saved(x)
        session.run(tf.global_variables_initializer())
        path = tfe.save_network_checkpoint(saved, str(tmp_path), global_step=3)
        assert path == str(tmp_path / "two-3")
        if is_called_before:
            got = other(x)
            tfe.restore_network_checkpoint(other, path)
        else:
            tfe.restore_network_checkpoint(other, path)
            got = other(x)
        np.testing.assert_array_equal(session.run(got), session.run(want))
        with pytest.raises(ValueError, match="two variables named 'same'"):
            tfe.save_network_checkpoint(saved, path, map_func=lambda name: "same")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tfe.Network("a/b"), ValueError, "Forward slashes"),
        (lambda: Two().name, ValueError, "not yet have a final name"),
        (lambda: Two().track_layer(1), TypeError, "not a tf.layers.Layer"),
        (lambda: Two().get_layer(index=5), ValueError, "only has 2 layers"),
        (lambda: Two().add_variable("v", []), RuntimeError, "not supported"),
        (lambda: tfe.Sequential([3]), TypeError, "Layer objects or callables"),
        (lambda: tfe.save_network_checkpoint(Two(), ""), ValueError, "first called"),
        (
            lambda: Two().track_layer(tf.layers.Dense(1, name="last")),
            ValueError,
            "two Layers with the name 'last'",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
