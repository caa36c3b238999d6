"""`tf.estimator.experimental.linear_logit_fn_builder`: weighted sums of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.feature_column.linear_models import linear_model
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import size as size_of
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.aggregate import add_n
from tensorloom.ops.math.cast import cast, to_float
from tensorloom.summary import summary


@export("estimator.experimental.linear_logit_fn_builder")
def linear_logit_fn_builder(
    units: int, feature_columns: Iterable[Any], sparse_combiner: str = "sum"
) -> Callable[[Mapping[Any, Any]], Any]:
    """Makes a function of `features` that gives logits.

    Args:
      units: how many logits an example has.
      feature_columns: columns of the features.
      sparse_combiner: how several values of a categorical column are combined: `sum`,
        `mean` or `sqrtn`.
    """
    columns = list(feature_columns)

    def linear_logit_fn(features: Mapping[Any, Any]) -> Any:
        variables: dict[Any, Any] = {}
        logits = linear_model(
            features,
            columns,
            units=units,
            sparse_combiner=sparse_combiner,
            cols_to_vars=variables,
        )
        bias = _parts([variables.pop("bias")])
        weights = _parts(list(variables.values()))
        if units > 1:
            summary.histogram("bias", bias)
        else:
            summary.scalar("bias", bias[0][0])
        summary.scalar("fraction_of_zero_weights", _fraction_of_zero(weights))
        return logits

    return linear_logit_fn


def _parts(variables: Sequence[Any]) -> list[Any]:
    """The variables; of those that are cut the parts."""
    found: list[Any] = []
    for variable in variables:
        if isinstance(variable, PartitionedVariable | list | tuple):
            found.extend(_parts(list(variable)))
        else:
            found.append(variable)
    return found


def _fraction_of_zero(variables: Sequence[Any]) -> Any:
    """How many of all weights are zero; NaN where there are none."""
    with name_scope("zero_fraction"):
        with name_scope("total_size"):
            sizes = [size_of(x, out_type=dtypes.int64) for x in variables]
            total = add_n(sizes)
        with name_scope("total_zero"):
            zeros = add_n(
                [
                    _count_of_zero(x, size)
                    for x, size in zip(variables, sizes, strict=True)
                ]
            )
        with name_scope("compute"):
            fraction = zeros / cast(total, dtype=dtypes.float32, name="float32_size")
        return identity(fraction, name="zero_fraction_or_nan")


def _count_of_zero(variable: Any, size: Any) -> Any:
    return cond(
        math_ops.equal(size, constant(0, dtype=dtypes.int64)),
        lambda: constant(0, dtype=dtypes.float32),
        lambda: zero_fraction(variable) * to_float(size),
        name="zero_count",
    )
