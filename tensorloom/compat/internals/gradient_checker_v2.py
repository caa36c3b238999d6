"""`gradient_checker_v2`: gradients of a function beside differences of its values.

Jacobians are matrices of shape [elements of x, elements of y]. A complex number counts
as two elements, its real and its imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.gradients.gradients import gradients
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.default_stack import get_default_session
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices, IndexedSlicesValue
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.math.cast import cast

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_CHECKED = (
    *(dtypes.float16, dtypes.bfloat16, dtypes.float32),
    *(dtypes.float64, dtypes.complex64, dtypes.complex128),
)


def compute_gradient(
    f: Callable[..., Tensor], x: list[Any], delta: float = 1e-3
) -> tuple[Any, Any]:
    """The Jacobians of `f` by its gradient and by differences.

    Runs in the default session.

    Args:
      f: takes as many tensors as `x` has, gives one tensor.
      x: where to compute them.
      delta: how far each element is moved to both sides.

    Returns:
      Two tuples of one Jacobian an argument: by the gradient, and by differences.

    Raises:
      ValueError: `x` is no list, or an empty result has a gradient.
      TypeError: an argument or the result has no floating-point dtype.
    """
    if not isinstance(x, list):
        raise ValueError(
            f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}"
        )
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    values = [np.array(session.run(convert_to_tensor(value))) for value in x]
    inputs = [placeholder(dtypes.as_dtype(value.dtype)) for value in values]
    y = f(*inputs)
    for tensor in (*inputs, y):
        if tensor.dtype.base_dtype not in _CHECKED:
            raise TypeError(
                f"Cannot compute the gradient at {tensor.name}: its dtype is "
                f"{tensor.dtype.name}"
            )

    def run(fetch: Any, more: dict[Any, Any] | None = None) -> Any:
        feeds: dict[Any, Any] = dict(zip(inputs, values, strict=True))
        return session.run(fetch, {**feeds, **(more or {})})

    shape = run(y).shape
    by_gradient = _jacobians_by_gradient(run, y, shape, inputs, values)
    # Differences in bfloat16 would lose delta.
    fine = cast(y, dtypes.float32) if y.dtype == dtypes.bfloat16 else y
    by_difference = [
        _jacobian_by_difference(lambda: run(fine), fine.dtype, value, delta)
        for value in values
    ]
    return tuple(by_gradient), tuple(by_difference)


def max_error(grad1: Iterable[Any], grad2: Iterable[Any]) -> Any:
    """The largest difference of an element between two lists of Jacobians."""
    pairs = zip(grad1, grad2, strict=False)
    errors = [np.fabs(a - b).max() for a, b in pairs if a.size or b.size]
    return max(errors, default=0)


def to_numpy(a: Any) -> Any:
    """A tensor's value in the default session, IndexedSlices as an array."""
    if isinstance(a, Tensor):
        return get_default_session().run(a)
    if isinstance(a, IndexedSlicesValue):
        array = np.zeros(a.dense_shape)
        np.add.at(array, np.asarray(a.indices), a.values)
        return array
    return a


def _real(dtype: DType) -> Any:
    return dtype.base_dtype.real_dtype.as_numpy_dtype


def _parts(dtype: DType) -> int:
    return 2 if dtype.is_complex else 1


def _jacobians_by_gradient(
    run: Callable[..., Any],
    y: Tensor,
    shape: tuple[int, ...],
    inputs: list[Tensor],
    values: list[Any],
) -> list[Any]:
    dy = placeholder(y.dtype, shape)
    found = gradients(y, inputs, dy)
    direction = np.zeros(shape, y.dtype.as_numpy_dtype)
    elements = direction.reshape(-1).view(_real(y.dtype))
    jacobians = [
        np.zeros((value.size * _parts(x.dtype), elements.size), _real(x.dtype))
        for x, value in zip(inputs, values, strict=True)
    ]
    known = [gradient for gradient in found if gradient is not None]
    for column in range(elements.size):
        elements[column] = 1
        results = iter(run(known, {dy: direction}))
        elements[column] = 0
        for gradient, jacobian, value in zip(found, jacobians, values, strict=True):
            if gradient is not None:
                dense = _dense(next(results), value.shape)
                jacobian[:, column] = dense.reshape(-1).view(jacobian.dtype)
    if not elements.size:
        _check_empty(run(known, {dy: direction}), found, values)
    return jacobians


def _check_empty(results: list[Any], found: list[Any], values: list[Any]) -> None:
    """An empty result must have gradients of the right shape, of zeros."""
    left = iter(results)
    for gradient, value in zip(found, values, strict=True):
        if gradient is None or isinstance(gradient, IndexedSlices):
            continue
        result = next(left)
        if result.shape != value.shape:
            raise ValueError(
                "Empty gradient has wrong shape: expected "
                f"{value.shape}, got {result.shape}"
            )
        if np.any(result):
            raise ValueError("Empty tensor with nonzero gradients")


def _dense(gradient: Any, shape: tuple[int, ...]) -> Any:
    if not hasattr(gradient, "indices"):
        return np.ascontiguousarray(gradient)
    dense = np.zeros(shape, gradient.values.dtype)
    np.add.at(dense, gradient.indices, gradient.values)
    return dense


def _jacobian_by_difference(
    run: Callable[[], Any], y_dtype: DType, value: Any, delta: float
) -> Any:
    """Moves each element of `value`, in place, to both sides."""
    real = _real(dtypes.as_dtype(value.dtype))
    elements = value.reshape(-1).view(real)
    scale = np.asarray(2 * delta, _real(y_dtype))
    rows = []
    for index in range(elements.size):
        original = elements[index]
        elements[index] = original + real(delta)
        above = run()
        elements[index] = original - real(delta)
        below = run()
        elements[index] = original
        slope = np.ascontiguousarray((above - below) / scale)
        rows.append(slope.astype(above.dtype).reshape(-1).view(_real(y_dtype)))
    if rows:
        return np.stack(rows).astype(real)
    return np.zeros((0, run().size * _parts(y_dtype)), real)
