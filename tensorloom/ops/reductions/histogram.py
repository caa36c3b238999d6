"""Histograms with bins of equal width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _histogram_shape(c: InferenceContext) -> TensorShape:
    if c.with_rank(1, 1).dims_tuple not in (None, (None,), (2,)):
        c.fail(f"Dimension must be 2 but is {c.input_shape(1).dims_tuple[0]}")  # type: ignore[index]
    c.with_rank(2, 0)
    count = c.input_value(2)
    if count is not None and int(count) <= 0:
        c.fail(f"Requires nbins > 0: {int(count)}")
    return TensorShape.of((None if count is None else int(count),))


register_op(
    "HistogramFixedWidth",
    inputs=["values: T", "value_range: T", "nbins: int32"],
    outputs=["out: dtype"],
    attrs=["T: {int32, int64, float, double}", "dtype: {int32, int64} = DT_INT32"],
    shape_fn=_histogram_shape,
    doc="How many values are in each of `nbins` bins; the outer bins take the rest.",
)


@export("histogram_fixed_width")
def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many of `values` fall into each bin, [nbins].

    Args:
      values: of any shape.
      value_range: [2], of the same dtype: the values below it are in the first bin,
        those above in the last.
      nbins: how many bins, int32 scalar.
      dtype: of the counts.
      name: of the scope.

    Raises (at run time):
      errors.InvalidArgumentError: the range is not increasing, or there are no bins.
    """
    with name_scope(
        name, "histogram_fixed_width", [values, value_range, nbins]
    ) as scope:
        return apply_op(  # type: ignore[no-any-return]
            "HistogramFixedWidth",
            values=values,
            value_range=value_range,
            nbins=nbins,
            dtype=dtype,
            name=scope,
        )


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin of each value, int32 of their shape; see `histogram_fixed_width`."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = array_ops.shape(values)
        values = array_ops.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        count = math_ops.cast(nbins, values.dtype)
        scaled = math_ops.truediv(
            values - value_range[0],
            value_range[1] - value_range[0],
            name="scaled_values",
        )
        indices = math_ops.floor(count * scaled, name="indices")
        clipped = clip_ops.clip_by_value(indices, 0, count - 1)
        return array_ops.reshape(math_ops.cast(clipped, dtypes.int32), shape)
