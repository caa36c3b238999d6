"""Invertible functions: what is kept of them, and their Jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorloom.python.ops.distributions import bijector, identity_bijector, normal

import tensorloom as tf


class _Exp(bijector.Bijector):  # type: ignore[misc]
    def __init__(self, validate_args: bool = False, dtype: Any = None) -> None:
        super().__init__(
            forward_min_event_ndims=0, validate_args=validate_args, dtype=dtype
        )
        self.calls = 0

    def _forward(self, x: Any) -> Any:
        self.calls += 1
        return tf.exp(x)

    def _inverse(self, y: Any) -> Any:
        self.calls += 1
        return tf.log(y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        self.calls += 1
        return -tf.log(y)


def _run(tensor: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(tensor, feeds)


def test_what_is_known_is_not_computed_again() -> None:
    exp, x = _Exp(), tf.constant([1.0, 2.0])
    y = exp.forward(x)
    assert exp.inverse(y) is x
    assert exp.forward(x) is y
    assert exp.calls == 1


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("static", [True, False])
def test_sums_over_events(rank: int, static: bool) -> None:
    y = np.array([[1.0, 2.0], [3.0, 4.0]])
    axes = tuple(range(2 - rank, 2))
    given: Any = rank if static else tf.placeholder_with_default(rank, [])
    exp = _Exp()
    inverse = exp.inverse_log_det_jacobian(y, event_ndims=given)
    np.testing.assert_allclose(_run(inverse), np.sum(-np.log(y), axis=axes))
    # The other side by what the subclass does say.
    forward = exp.forward_log_det_jacobian(np.log(y), event_ndims=given)
    np.testing.assert_allclose(_run(forward), np.sum(np.log(y), axis=axes))


def test_identity_counts_once_for_each_part() -> None:
    same = identity_bijector.Identity()
    x = tf.constant([[1.0, 2.0]])
    assert same.name == "identity"
    assert same.forward(x) is x
    assert _run(same.inverse_log_det_jacobian(x, event_ndims=2)) == 0
    assert same.forward_event_shape([3]).as_list() == [3]


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda b: b.inverse_log_det_jacobian(1.0, 1.5), ValueError, "integer dtype"),
        (lambda b: b.inverse_log_det_jacobian(1.0, (1, 2)), ValueError, "scalar"),
        (lambda b: b.inverse_log_det_jacobian(1.0, -1), ValueError, "larger than"),
        (lambda b: b.forward(np.float64(1)), TypeError, "Input had dtype"),
    ],
)
def test_refused(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(_Exp(dtype=tf.float32))


def test_functions_that_a_subclass_does_not_give() -> None:
    class Bare(bijector.Bijector):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(inverse_min_event_ndims=1)

    bare = Bare()
    assert (bare.name, bare.forward_min_event_ndims) == ("bare", 1)
    for call in (
        lambda: bare.forward(1.0),
        lambda: bare.inverse(1.0),
        lambda: bare.inverse_log_det_jacobian([1.0], event_ndims=1),
        lambda: bare.forward_log_det_jacobian([1.0], event_ndims=1),
    ):
        with pytest.raises(NotImplementedError, match="not implemented"):
            call()


def test_checked_rank() -> None:
    rank = tf.placeholder(tf.int32, None)
    made = _Exp(validate_args=True).inverse_log_det_jacobian(2.0, event_ndims=rank)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected scalar"):
        _run(made, {rank: (0, 1)})


def test_positive_parameters() -> None:
    made = normal.NormalWithSoftplusScale(loc=0.0, scale=-1.0)
    assert made.parameters["scale"] == -1.0
    np.testing.assert_allclose(_run(made.scale), np.log1p(np.exp(-1.0)), rtol=1e-6)
