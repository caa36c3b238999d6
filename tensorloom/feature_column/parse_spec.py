"""What `tf.io.parse_example` has to read for a list of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorloom.feature_column.earlier.interfaces import _FeatureColumn
from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.framework.export import export


@export("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Configurations of all features that the columns read, by name.

    Raises:
      ValueError: not a column, or columns that read one feature in different ways.
    """
    return _merged(feature_columns, _FeatureColumn, lambda c: c._parse_example_spec)


def make_parse_example_spec_v2(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """The same for `FeatureColumn`s alone, as in TensorFlow 2.

    Raises:
      ValueError: not a column, or columns that read one feature in different ways.
    """
    return _merged(feature_columns, FeatureColumn, lambda c: c.parse_example_spec)


def _merged(columns: Iterable[Any], kind: type, spec_of: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, kind):
            raise ValueError(
                f"All feature_columns must be {kind.__name__} instances. "
                f"Given: {column}"
            )
        for key, value in spec_of(column).items():
            if result.setdefault(key, value) != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. "
                    f"Given {value} and {result[key]}"
                )
    return result
