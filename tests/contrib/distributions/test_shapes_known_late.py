"""Distributions whose shapes a step tells: overrides, new batch shapes, and axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.distributions import axes, scales

ds = tf.contrib.distributions
bs = ds.bijectors


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def _late(value: Any, dtype: Any = np.int32) -> tf.Tensor:
    return tf.placeholder_with_default(np.asarray(value, dtype), shape=None)


def _shifted(loc: Any, batch: Any, event: Any) -> Any:
    base = ds.Normal(loc, tf.ones_like(loc))
    return ds.TransformedDistribution(
        base, bs.AffineScalar(1.0), batch, event, validate_args=True
    )


@pytest.mark.parametrize(
    ("loc", "batch", "event"),
    [(0.5, [2], [3]), ([0.5, 1.5], [], [3]), (0.5, [2], []), ([0.5, 1.5], [], [])],
)
def test_overrides_of_unknown_length_are_as_known_ones(
    loc: Any, batch: list[int], event: list[int]
) -> None:
    known = _shifted(tf.constant(loc), batch, event)
    late = _shifted(_late(loc, np.float32), _late(batch), _late(event))
    value = np.linspace(0, 1, 2 * max(1, *event, 0)).reshape([2, *event])
    of = [
        [made.batch_shape_tensor(), made.event_shape_tensor(), made.log_prob(value)]
        for made in (known, late)
    ]
    expected, found = _run(of)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6)
    assert _run(late.sample(4, seed=1)).shape == (4, 2, *event)


@pytest.mark.parametrize(
    ("loc", "batch", "event", "message"),
    [
        (0.5, 3, [], "must be a vector"),
        (0.5, [-3], [], "must have positive elements"),
        ([0.5, 1.0], [3], [], "base distribution not scalar"),
    ],
)
def test_overrides_are_checked_in_steps(
    loc: Any, batch: Any, event: Any, message: str
) -> None:
    late = _shifted(_late(loc, np.float32), _late(batch), _late(event))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(late.batch_shape_tensor())
    with pytest.raises(ValueError, match=message):
        _shifted(tf.constant(loc), batch, event)


def test_a_normal_of_an_unknown_diagonal() -> None:
    diagonal = tf.placeholder(tf.float32)
    normal = ds.MultivariateNormalDiag(scale_diag=diagonal)
    feeds = {diagonal: np.ones([4, 3])}
    shapes = [normal.batch_shape_tensor(), normal.event_shape_tensor()]
    assert [list(shape) for shape in _run(shapes, feeds)] == [[4], [3]]
    assert _run(normal.sample(2), feeds).shape == (2, 4, 3)


@pytest.mark.parametrize(
    ("shape", "message", "late_message"),
    [
        ([2, 3], "must match `distribution.batch_shape` size", "sizes do not match"),
        ([-1, 0], "elements must be >=-1", "must be >=-1"),
        (4, "must be a vector", "must be a vector"),
    ],
)
def test_new_batch_shapes_are_checked(
    shape: Any, message: str, late_message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ds.BatchReshape(ds.Normal([0.0] * 4, 1.0), shape)
    base = ds.Normal(_late([0.0] * 4, np.float32), 1.0)
    late = ds.BatchReshape(base, _late(shape), validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=late_message):
        _run(late.sample())


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.zeros([4]), "too few batch and event dims"), (np.zeros([1, 1, 4]), "shape")],
)
def test_values_are_not_broadcast_to_a_new_batch(value: Any, message: str) -> None:
    value = value.astype(np.float32)
    known = ds.BatchReshape(ds.Normal([0.0] * 4, 1.0), [1, -1, 1])
    assert known.batch_shape.as_list() == [1, 4, 1]
    with pytest.raises(NotImplementedError, match=message):
        known.log_prob(value)
    base = ds.Normal(_late([0.0] * 4, np.float32), 1.0)
    late = ds.BatchReshape(base, _late([1, -1, 1]), validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(late.log_prob(value))
    assert _run(late.log_prob(value.reshape([1, 4, 1]))).shape == (1, 4, 1)


@pytest.mark.parametrize("known", [True, False])
def test_axes_are_moved_and_padded(known: bool) -> None:
    x_value = np.arange(24, dtype=np.float32).reshape([2, 3, 4])
    x = tf.constant(x_value) if known else _late(x_value, np.float32)
    for source, goal in [(0, 2), (2, 0), (-1, 1), (0, -2), (1, 1)]:
        moved = axes.move_dimension(x, source, goal)
        np.testing.assert_array_equal(_run(moved), np.moveaxis(x_value, source, goal))
    padded = axes.pad(x, -2, front=True, value=7, count=2)
    expected = np.pad(x_value, [(0, 0), (2, 0), (0, 0)], constant_values=7)
    np.testing.assert_array_equal(_run(padded), expected)
    if known:
        assert padded.shape.as_list() == [2, 5, 4]
        with pytest.raises(ValueError, match="At least one of"):
            axes.pad(x, 0)
        with pytest.raises(TypeError, match="must be `int`-like"):
            axes.pad(x, 0, front=True, count=1.5)


def test_the_spread_of_a_mixture() -> None:
    weights, means = tf.constant([[0.75, 0.25, 0.0]]), tf.constant([[-5.0, 0.0, 1.25]])
    deviation = axes.mixture_stddev(weights, means, tf.constant([[0.01, 2.0, 0.1]]))
    np.testing.assert_allclose(_run(deviation), [2.3848637], rtol=1e-6)
    with pytest.raises(ValueError, match="Expecting stddevs"):
        axes.mixture_stddev(weights, means, tf.constant([[1.0]]))
    mixture = ds.MixtureSameFamily(
        ds.Categorical(probs=[0.3, 0.7]),
        ds.MultivariateNormalDiag([[-1.0, 1.0], [1.0, -1.0]]),
    )
    padded = axes.pad_mixture_dimensions(
        tf.ones([5, 2]), mixture, mixture.mixture_distribution, 1
    )
    assert _run(padded).shape == (5, 2, 1)


def test_shapes_of_a_scale_alone_are_known() -> None:
    scale = tf.linalg.LinearOperatorDiag(np.ones([5, 1, 3]))
    batch, event = scales.shapes_of(None, scale)
    assert ([*batch], [*event]) == ([5, 1], [3])


def test_bijectors_of_a_program_open_scopes() -> None:
    class Shifted(bs.Bijector):  # type: ignore[misc,name-defined]
        def __init__(self, loc: Any) -> None:
            super().__init__(forward_min_event_ndims=0, graph_parents=[], name="it")
            with self._name_scope("init", values=[loc]):
                self.loc = tf.convert_to_tensor(loc, name="loc")

    assert Shifted(2.0).loc.name == "it/init/loc:0"
