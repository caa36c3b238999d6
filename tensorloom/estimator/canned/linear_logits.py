"""The logits of `tf.estimator.Linear*`: a linear model with its summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.estimator.canned.dnn_logits import check_units
from tensorloom.feature_column.interfaces import is_feature_column_v2
from tensorloom.feature_column.layers.linear_layer import LinearModel
from tensorloom.feature_column.linear_models import _LinearModel
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops
from tensorloom.summary import summary


@export("estimator.experimental.linear_logit_fn_builder")
def linear_logit_fn_builder(
    units: int, feature_columns: Any, sparse_combiner: str = "sum"
) -> Callable[..., Tensor]:
    """A function of features that makes a linear model's logits.

    Args:
      units: number of logits.
      feature_columns: dense and categorical columns, the input.
      sparse_combiner: how the weights of an example's ids are combined: "sum", "mean"
        or "sqrtn".

    Raises:
      ValueError: `units` is not an int.
    """
    check_units(units)

    def linear_logit_fn(features: Mapping[str, Any]) -> Tensor:
        if is_feature_column_v2(feature_columns):
            model = LinearModel(
                feature_columns, units, sparse_combiner, name="linear_model"
            )
            logits: Tensor = model(features)
            write_summaries(units, model)
            return logits
        earlier = _LinearModel(
            feature_columns, units, sparse_combiner, name="linear_model"
        )
        logits = earlier(features)
        variables = dict(earlier.cols_to_vars())
        bias = variables.pop("bias")
        _write(units, bias, nest.flatten(list(variables.values())))
        return logits

    return linear_logit_fn


def write_summaries(units: int, model: LinearModel) -> None:
    """Writes the bias, and how many of the weights are zero."""
    weights = [v for v in model.variables if v is not model.bias]
    _write(units, _parts([model.bias]), weights)


def _write(units: int, bias: list[Any], weights: Iterable[Any]) -> None:
    if units > 1:
        summary.histogram("bias", bias)
    else:
        # The first element of the first slice.
        summary.scalar("bias", bias[0][0])
    summary.scalar("fraction_of_zero_weights", fraction_of_zero(_parts(weights)))


def _parts(variables: Iterable[Any]) -> list[Any]:
    parts: list[Any] = []
    for variable in variables:
        is_cut = isinstance(variable, PartitionedVariable)
        parts.extend(list(variable) if is_cut else [variable])
    return parts


def fraction_of_zero(variables: list[Any]) -> Tensor:
    """How much of these variables is zero; NaN where they have no elements."""
    with name_scope("zero_fraction"):
        with name_scope("total_size"):
            sizes = [array_ops.size(v, out_type=dtypes.int64) for v in variables]
            total_size = math_ops.add_n(sizes)
        with name_scope("total_zero"):
            counts = [
                _zero_count(variable, size)
                for variable, size in zip(variables, sizes, strict=True)
            ]
            total_zero = math_ops.add_n(counts)
        with name_scope("compute"):
            size = math_ops.cast(total_size, dtypes.float32, name="float32_size")
            fraction = total_zero / size
        return array_ops.identity(fraction, name="zero_fraction_or_nan")


def _zero_count(variable: Any, size: Tensor) -> Any:
    return cond(
        math_ops.equal(size, constant(0, dtype=dtypes.int64)),
        true_fn=lambda: constant(0, dtype=dtypes.float32),
        false_fn=lambda: zero_fraction(variable) * math_ops.to_float(size),
        name="zero_count",
    )
