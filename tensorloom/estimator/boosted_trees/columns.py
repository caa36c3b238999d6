"""The columns of a model of trees, as features that a tree can split.

A tree splits integers: numbers of buckets. An indicator column gives one feature for
each of its values, a bucketized column one, and a dense column of floats one for each
of its numbers, whose buckets are quantiles that the model finds first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.feature_column.indicator import IndicatorColumn
from tensorloom.feature_column.input_layers import transform_features
from tensorloom.feature_column.interfaces import CategoricalColumn, DenseColumn
from tensorloom.feature_column.numeric import BucketizedColumn
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.array.stack import unstack
from tensorloom.ops.math.cast import cast

# A feature that is there or is not.
_INDICATOR_BUCKETS: Final = 2


@dataclass(frozen=True)
class FeatureGroups:
    """Features whose statistics have one size."""

    # How many buckets the features of each group have.
    buckets: list[int]
    # The numbers of the features in each group.
    features: list[list[int]]


class TreeColumns:
    """The columns in the order of their names.

    Args:
      feature_columns: indicator, bucketized and dense columns.
      num_quantiles: how many buckets a float becomes.

    Raises:
      ValueError: a column is of another kind.
    """

    def __init__(self, feature_columns: Iterable[Any], num_quantiles: int) -> None:
        self._columns = sorted(feature_columns, key=lambda column: column.name)
        self._num_quantiles = num_quantiles
        for column in self._columns:
            _check_kind(column)

    @property
    def floats(self) -> list[Any]:
        """The dense columns of floats, whose quantiles must be found."""
        return [column for column in self._columns if _is_float(column)]

    @property
    def indicators(self) -> list[Any]:
        """The columns of categories."""
        return [c for c in self._columns if isinstance(c, IndicatorColumn)]

    def names(self) -> list[str]:
        """Of each feature the name of the column that it comes from."""
        return [
            _source_name(column)
            for column in self._columns
            for _ in range(_size(column))
        ]

    def num_floats(self) -> int:
        """How many features are floats."""
        return sum(_size(column) for column in self.floats)

    def groups(self) -> FeatureGroups:
        """The features by how many buckets they have, in TensorFlow's order.

        All bucketized columns are one group, of the most buckets among them.
        """
        groups: dict[int, list[int]] = {}
        bucketized: list[int] = []
        most = _INDICATOR_BUCKETS
        feature = 0
        for column in self._columns:
            features = range(feature, feature + _size(column))
            feature += len(features)
            if isinstance(column, BucketizedColumn):
                most = max(most, len(column.boundaries) + 1)
                bucketized.extend(features)
            elif isinstance(column, IndicatorColumn):
                groups.setdefault(_INDICATOR_BUCKETS, []).extend(features)
            else:
                groups.setdefault(self._num_quantiles, []).extend(features)
        if bucketized:
            groups.setdefault(most, []).extend(bucketized)
        return FeatureGroups(list(groups), list(groups.values()))

    def boundaries_by_name(self, boundaries: Sequence[Any]) -> dict[str, list[Any]]:
        """The boundaries of the floats' buckets by the names of their columns."""
        rest = list(boundaries)
        found = {}
        for column in self.floats:
            found[column.name] = rest[: _size(column)]
            del rest[: _size(column)]
        return found

    def bucketed(
        self,
        features: Mapping[Any, Any],
        boundaries: Mapping[str, Sequence[Any]],
        known: Mapping[Any, Any] | None = None,
    ) -> list[Any]:
        """The features as numbers of buckets: int32 vectors.

        Args:
          features: tensors by name.
          boundaries: of the floats' buckets.
          known: results of columns that are there already.

        Raises:
          ValueError: a column gives tensors of too high a rank.
        """
        results = dict(known or {})
        rest = [column for column in self._columns if column not in results]
        results.update(transform_features(features, rest) if rest else {})
        found: list[Any] = []
        for column in self._columns:
            parts = _parts(column, results[column])
            if boundaries and _is_float(column):
                parts = apply_op(
                    "BoostedTreesBucketize",
                    float_values=parts,
                    bucket_boundaries=boundaries[column.name],
                )
            found.extend(parts)
        return found

    def float_values(self, features: Mapping[Any, Any]) -> list[Any]:
        """The floats as they are: float vectors."""
        results = transform_features(features, self.floats)
        return [part for c in self.floats for part in _parts(c, results[c])]


def _check_kind(column: Any) -> None:
    if isinstance(column, BucketizedColumn):
        return
    if isinstance(column, CategoricalColumn):
        raise ValueError(
            f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}"
        )
    if not isinstance(column, DenseColumn):
        raise ValueError(f"Encountered unexpected column {column}")


def _is_float(column: Any) -> bool:
    if isinstance(column, IndicatorColumn | BucketizedColumn):
        return False
    return bool(column.dtype.is_floating)


def _size(column: Any) -> int:
    """How many features a column gives."""
    if isinstance(column, IndicatorColumn):
        return int(column.categorical_column.num_buckets)
    if isinstance(column, BucketizedColumn):
        return 1
    sizes = column.variable_shape.as_list()
    return int(sizes[0]) if sizes else 1


def _source_name(column: Any) -> str:
    if isinstance(column, IndicatorColumn):
        return str(column.categorical_column.name)
    return str(column.name)


def _parts(column: Any, tensor: Any) -> list[Any]:
    """The vectors of a column's result, `[batch, size]`."""
    if isinstance(column, BucketizedColumn):
        tensor = squeeze(tensor, axis=1)
        if len(tensor.shape) > 1:
            raise ValueError(
                "For now, only supports features equivalent to rank 1 but column "
                f"`{column.source_column.name}` got: {tensor.shape}"
            )
        return [tensor]
    if isinstance(column, IndicatorColumn):
        tensor = cast(tensor, dtypes.int32)
        if len(tensor.shape) > 2:
            raise ValueError(
                "Rank of indicator column must be no more than 2, but column "
                f"`{column.categorical_column.name}` got: {tensor.shape}"
            )
    elif column.variable_shape.rank > 1:
        raise ValueError(
            "For now, we only support Dense column with rank of 1, but column "
            f"`{column.name}` got: {column.variable_shape}"
        )
    parts: list[Any] = unstack(tensor, axis=1)
    return parts
