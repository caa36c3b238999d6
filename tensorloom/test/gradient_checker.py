"""Gradients compared with finite differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.gradients.gradients import gradients
from tensorloom.framework.runtime.default_stack import get_default_session
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Any:
    """The Jacobian of y by x twice: from `tf.gradients`, and from differences.

    Args:
      x: a tensor, or a list of them; then `x_shape` and `x_init_value` are lists too.
      x_shape, y_shape: lists of sizes.
      y: depends on x.
      x_init_value: where to take them; random when None.
      delta: the step of the differences.
      init_targets: operations to run first.
      extra_feed_dict: fed in each run.

    Returns:
      (theoretical, numerical), [size of x, size of y] each; a list for a list of x. A
      complex element counts as two, its real and its imaginary part.

    Raises:
      ValueError: there is no default session.
    """
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    if init_targets is not None:
        session.run(init_targets)
    feeds = dict(extra_feed_dict or {})
    many = isinstance(x, list)
    xs = x if many else [x]
    shapes = x_shape if many else [x_shape]
    starts = x_init_value if many else [x_init_value]
    starts = starts or [None] * len(xs)
    points = [_start(*item) for item in zip(xs, shapes, starts, strict=True)]
    feeds.update(zip(xs, points, strict=True))
    result = [
        (
            _theoretical(session, tensor, point, y, y_shape, feeds),
            _numerical(session, tensor, point, y, y_shape, delta, feeds),
        )
        for tensor, point in zip(xs, points, strict=True)
    ]
    return result if many else result[0]


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> float:
    """The largest difference between the two Jacobians of `compute_gradient`."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(found, list) else [found]
    errors = [np.abs(a - b).max() if a.size else 0.0 for a, b in pairs]
    return float(max(errors))


def _start(tensor: Tensor, shape: Any, value: Any) -> Any:
    dtype = tensor.dtype.as_numpy_dtype
    if value is None:
        return np.random.default_rng().random(shape).astype(dtype)
    return np.array(value, dtype).reshape(shape)


def _theoretical(
    session: Any, x: Tensor, point: Any, y: Tensor, y_shape: Any, feeds: dict[Any, Any]
) -> Any:
    seed = array_ops.placeholder(y.dtype, list(y_shape))
    (grad,) = gradients(y, x, seed)
    one_hot = np.zeros(tuple(y_shape), y.dtype.as_numpy_dtype)
    columns = np.zeros((_parts(point).size, _parts(one_hot).size), _real(point))
    for column in range(columns.shape[1]):
        _parts(one_hot)[column] = 1
        value = session.run(grad, {**feeds, seed: one_hot})
        _parts(one_hot)[column] = 0
        if hasattr(value, "indices"):  # IndexedSlices
            dense = np.zeros_like(point)
            np.add.at(dense, value.indices, value.values)
            value = dense
        columns[:, column] = _parts(value)
    return columns


def _numerical(
    session: Any,
    x: Tensor,
    point: Any,
    y: Tensor,
    y_shape: Any,
    delta: float,
    feeds: dict[Any, Any],
) -> Any:
    size = int(np.prod(y_shape, dtype=np.int64)) * (2 if y.dtype.is_complex else 1)
    rows = np.zeros((_parts(point).size, size), _real(point))
    for row in range(len(rows)):
        sides = []
        for step in (delta, -delta):
            moved = point.copy()
            _parts(moved)[row] += step
            sides.append(_parts(session.run(y, {**feeds, x: moved})))
        rows[row] = (sides[0] - sides[1]) / (2 * delta)
    return rows


def _real(array: Any) -> Any:
    """The dtype of the parts of an array's elements."""
    return array.real.dtype


def _parts(array: Any) -> Any:
    """The elements as a vector; of complex ones the real and the imaginary parts."""
    array = np.asarray(array)
    return array.reshape(-1).view(_real(array))
