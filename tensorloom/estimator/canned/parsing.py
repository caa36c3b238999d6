"""`tf.estimator.*_parse_example_spec`: how Examples of a model are parsed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorloom.feature_column.numeric import NumericColumn, numeric_column
from tensorloom.feature_column.parse_spec import make_parse_example_spec
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.parsing.parsing_features import FixedLenFeature


@export("estimator.classifier_parse_example_spec")
def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = dtypes.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """What `tf.parse_example` takes, for a classifier's features and labels.

    Args:
      feature_columns: the model's columns.
      label_key: the name of the labels.
      label_dtype: their dtype.
      label_default: the label of examples without one; they are an error when None.
      weight_column: the feature that weighs examples, or its numeric column.

    Raises:
      ValueError: labels or weights are features, too, or the column is another one.
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


@export("estimator.regressor_parse_example_spec")
def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """What `tf.parse_example` takes, for a regression's features and labels.

    Args:
      feature_columns: the model's columns.
      label_key: the name of the labels.
      label_dtype: their dtype.
      label_default: the label of examples without one; they are an error when None.
      label_dimension: how many numbers a label has.
      weight_column: the feature that weighs examples, or its numeric column.

    Raises:
      ValueError: labels or weights are features, too, or the column is another one.
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def _spec(
    feature_columns: Iterable[Any], label_key: str, label: Any, weight_column: Any
) -> dict[str, Any]:
    spec: dict[str, Any] = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: "
            f"{spec.keys()}"
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. weight_column: "
            f"{weight_column.key}, features: {spec.keys()}"
        )
    spec.update(weight_column.parse_example_spec)
    return spec
