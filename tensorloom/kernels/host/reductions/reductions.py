"""Host kernels of the reductions, ArgMax and ArgMin, and the scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.array.checks import in_advance, keep_last
from tensorloom.kernels.host.indexing.narrow_arg_max import is_narrow, narrow_arg
from tensorloom.kernels.host.math.binary import INTEGERS, REAL_FLOATS
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.reductions.middle_axis import middle_axis_first

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_ORDERED = {"T": REAL_FLOATS["T"] | INTEGERS["T"]}
WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}
Axes = tuple[int, ...]
# (values, axes, keepdims) -> reduced values
Reduction = Callable[[Any, Axes, bool], Any]

_add: Callable[..., Any] = middle_axis_first(np.add.reduce)
_multiply: Callable[..., Any] = middle_axis_first(np.multiply.reduce)
_fmax: Callable[..., Any] = middle_axis_first(np.fmax.reduce)
_fmin: Callable[..., Any] = middle_axis_first(np.fmin.reduce)
_and: Callable[..., Any] = np.logical_and.reduce
_or: Callable[..., Any] = np.logical_or.reduce


def reduction_axes(indices: Any, rank: int) -> Axes:
    """Reduction indices as distinct axes from 0 on.

    Raises:
      InvalidArgumentError: one is outside [-rank, rank).
    """
    listed = indices.tolist()
    if isinstance(listed, int):
        axes = [listed]
    elif indices.ndim == 1 and indices.dtype.kind == "i":
        axes = listed
    else:
        axes = np.ravel(listed).astype(int).tolist()
    for axis in axes:
        if not -rank <= axis < rank:
            raise invalid_argument(
                f"Invalid reduction dimension ({axis} for input with "
                f"{rank} dimension(s)"
            )
    return tuple(dict.fromkeys(axis % rank for axis in axes))


def keep_last_axes() -> Callable[[Any, Any], Axes]:
    """`reduction_axes` of (shape, indices), which remembers its last answer."""
    return keep_last(lambda shape, indices: reduction_axes(indices, len(shape)))


def lowest(dtype: DType) -> Any:
    """What a maximum starts from: minus infinity, or the least integer."""
    return -np.inf if dtype.is_floating else dtype.min


def highest(dtype: DType) -> Any:
    """What a minimum starts from: infinity, or the greatest integer."""
    return np.inf if dtype.is_floating else dtype.max


def _reduction(
    op: str,
    build: Callable[[DType], Reduction],
    attr: str = "T",
    types: dict[str, set[DType]] | None = None,
) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        keep = c["keep_dims"]
        reduce = build(c[attr] if attr else dtypes.bool)
        known = in_advance(
            lambda shape, indices: reduction_axes(indices, len(shape)),
            c.input_shapes[0],
            c.constant(1),
        )
        if known is not None:
            fixed = known
            return lambda x, indices: reduce(x, fixed, keep)
        axes = keep_last_axes()

        def compute(x: Any, indices: Any) -> Any:
            return reduce(x, axes(x.shape, indices), keep)

        return compute

    host_kernel(op, types=types)(factory)
    if attr:
        host_kernel(op, types=WIDE_UNSIGNED, large=True)(factory)


def _sum(dtype: DType) -> Reduction:
    to = dtype.np_dtype
    return lambda x, axes, keep: _add(x, axes, to, keepdims=keep)


def _prod(dtype: DType) -> Reduction:
    to = dtype.np_dtype
    return lambda x, axes, keep: _multiply(x, axes, to, keepdims=keep)


def _max(dtype: DType) -> Reduction:
    # fmax passes over NaN, as TensorFlow's comparison does.
    start = dtype.np_dtype.type(lowest(dtype))
    return _unless_no_axes(
        lambda x, axes, keep: _fmax(x, axes, keepdims=keep, initial=start)
    )


def _min(dtype: DType) -> Reduction:
    start = dtype.np_dtype.type(highest(dtype))
    return _unless_no_axes(
        lambda x, axes, keep: _fmin(x, axes, keepdims=keep, initial=start)
    )


def _unless_no_axes(reduce: Reduction) -> Reduction:
    """What is reduced over no axis stays as it is, NaN included."""
    return lambda x, axes, keep: reduce(x, axes, keep) if axes else x


def _mean(dtype: DType) -> Reduction:
    to = dtype.np_dtype

    def reduce(x: Any, axes: Axes, keep: bool) -> Any:
        total = _add(x, axes, to, keepdims=keep)
        count = x.size // max(total.size, 1)
        if dtype.is_integer:
            # The sum wraps in the dtype itself and the quotient is truncated.
            return np.trunc(total / max(count, 1)).astype(to)
        if dtype.is_complex and not count:
            return total  # zero, not NaN: so does TensorFlow
        return total / to.type(count)

    return reduce


def _euclidean_norm(dtype: DType) -> Reduction:
    to = dtype.np_dtype

    def reduce(x: Any, axes: Axes, keep: bool) -> Any:
        if all(x.shape[axis] == 1 for axis in axes):
            # TensorFlow then copies, signs and all.
            return x if keep else x.squeeze(tuple(axes))
        squares = x * np.conj(x) if dtype.is_complex else x * x
        return np.sqrt(_add(squares, axes, to, keepdims=keep)).astype(to)

    return reduce


_reduction("Sum", _sum)
_reduction("Prod", _prod)
_reduction("Max", _max, types=_ORDERED)
_reduction("Min", _min, types=_ORDERED)
_reduction("Mean", _mean)
_reduction("EuclideanNorm", _euclidean_norm)
_reduction(
    "All",
    lambda dtype: lambda x, axes, keep: _and(x, axes, keepdims=keep),
    attr="",
)
_reduction(
    "Any",
    lambda dtype: lambda x, axes, keep: _or(x, axes, keepdims=keep),
    attr="",
)


# --- positions ---------------------------------------------------------------


def arg_axis(dimension: Any, shape: tuple[int, ...]) -> int:
    """The axis of ArgMax or ArgMin, from 0 on.

    Raises:
      InvalidArgumentError: it is not an axis of the shape, or it is empty.
    """
    if np.ndim(dimension):
        raise invalid_argument(
            "dim must be a scalar, but received tensor of shape: "
            f"{shape_text(dimension.shape)}"
        )
    axis, rank = int(dimension), len(shape)
    if not -rank <= axis < rank:
        raise invalid_argument(
            f"Expected dimension in the range [{-rank}, {rank}), but got {axis}"
        )
    axis %= rank
    if shape[axis] == 0:
        raise invalid_argument(
            f"Reduction axis {axis} is empty in shape {shape_text(shape)}"
        )
    return axis


def _arg(op: str, replacement: float) -> None:
    largest = op == "ArgMax"

    def factory(c: OpKernelConstruction) -> Compute:
        to, dtype = c["output_type"].np_dtype, c["T"]
        is_wide = to == np.intp  # NumPy's own
        floating = dtype.is_floating
        has_narrow = dtype.is_integer or dtype.np_dtype.itemsize >= 4
        known = in_advance(
            lambda shape, dimension: arg_axis(dimension, shape),
            c.input_shapes[0],
            c.constant(1),
        )

        def compute(x: Any, dimension: Any) -> Any:
            axis = arg_axis(dimension, x.shape)
            if has_narrow and is_narrow(x.shape, axis):
                return search_narrow(x, dimension, axis)
            return search(x, dimension, axis)

        @makes_array
        def search_narrow(x: Any, dimension: Any, axis: Any = known) -> Any:
            return narrow_arg(x, axis, largest).astype(to, copy=False)

        @makes_array
        def search(x: Any, dimension: Any, axis: Any = known) -> Any:
            if floating and x.size:
                # The fastest way to see a NaN: NumPy takes the first one for extreme.
                extreme = x.item(x.argmax())
                if extreme != extreme:
                    # A comparison with NaN is false, so it is never the extreme one.
                    x = np.where(np.isnan(x), x.dtype.type(replacement), x)
            found = x.argmax(axis) if largest else x.argmin(axis)
            return found if is_wide else found.astype(to)

        if known is None:
            return compute
        shape: Any = c.input_shapes[0].dims_tuple
        return search_narrow if has_narrow and is_narrow(shape, known) else search

    host_kernel(op)(factory)
    host_kernel(op, types=WIDE_UNSIGNED, large=True)(factory)


_arg("ArgMax", -np.inf)
_arg("ArgMin", np.inf)


# --- scans -------------------------------------------------------------------


def scan_axis(axis: Any, rank: int) -> int:
    """The axis of Cumsum or Cumprod, from 0 on.

    Raises:
      InvalidArgumentError: it is not a scalar, or not an axis.
    """
    if axis.shape != ():
        raise invalid_argument(
            f"ScanOp: axis must be a scalar, not {shape_text(axis.shape)}"
        )
    value = int(axis)
    if not -rank <= value < rank:
        raise invalid_argument(
            f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), "
            f"but got {value}"
        )
    return value % rank


def _scan(op: str, accumulate: Callable[..., Any], start: int) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        exclusive, reverse, to = c["exclusive"], c["reverse"], c["T"].np_dtype

        def compute(x: Any, axis: Any) -> Any:
            dim = scan_axis(axis, x.ndim)
            if reverse:
                x = np.flip(x, dim)
            out = accumulate(x, dim, to)
            if exclusive:
                out = _shifted(out, dim, start)
            return _flipped(out, dim) if reverse else out

        return compute

    host_kernel(op)(factory)
    host_kernel(op, types=WIDE_UNSIGNED, large=True)(factory)


def _flipped(x: Any, axis: int) -> Any:
    """A copy: torch cannot share memory that is strided backwards."""
    return np.ascontiguousarray(np.flip(x, axis))


def _shifted(x: Any, axis: int, start: int) -> Any:
    """`x` moved up by one along the axis, with `start` in the first place."""
    out = np.empty_like(x)
    first = (slice(None),) * axis
    out[(*first, slice(0, 1))] = start
    out[(*first, slice(1, None))] = x[(*first, slice(0, -1))]
    return out


_scan("Cumsum", np.add.accumulate, 0)
_scan("Cumprod", np.multiply.accumulate, 1)


@host_kernel("CumulativeLogsumexp")
def _cumulative_logsumexp(c: OpKernelConstruction) -> Compute:
    exclusive, reverse = c["exclusive"], c["reverse"]

    def compute(x: Any, axis: Any) -> Any:
        dim = scan_axis(axis, x.ndim)
        if reverse:
            x = np.flip(x, dim)
        out = np.logaddexp.accumulate(x, dim)
        if exclusive:
            out = _shifted(out, dim, x.dtype.type(np.finfo(x.dtype).min))
        return _flipped(out, dim) if reverse else out

    return compute
