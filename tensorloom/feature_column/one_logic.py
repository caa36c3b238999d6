"""Columns that are written once and serve both interfaces.

A column of this package says what it does in terms of a `Source`; these classes make
the methods of `FeatureColumn` and of the earlier `_FeatureColumn` of it.
"""

from __future__ import annotations

from typing import Any

from tensorloom.feature_column import serialization
from tensorloom.feature_column.interfaces import FeatureColumn, IdWeightPair
from tensorloom.feature_column.sources import BuilderSource, CacheSource, Source


class ColumnLogic:
    """A column whose `_transform` makes its result."""

    parse_example_spec: Any

    def _transform(self, source: Source) -> Any:
        """The result of the column, from features and other columns."""
        raise NotImplementedError(type(self).__name__)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """See `FeatureColumn`."""
        return self._transform(CacheSource(transformation_cache, state_manager))

    def _transform_feature(self, inputs: Any) -> Any:
        return self._transform(BuilderSource(inputs))

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec  # type: ignore[no-any-return]

    @property
    def _is_v2_column(self) -> bool:
        return all(_is_v2(parent) for parent in self.parents)

    @property
    def parents(self) -> list[Any]:
        """The feature that the column reads."""
        return [self.key]  # type: ignore[attr-defined]

    def _get_config(self) -> dict[str, Any]:
        return serialization.column_config(self)

    @classmethod
    def _from_config(
        cls,
        config: dict[str, Any],
        custom_objects: Any = None,
        columns_by_name: Any = None,
    ) -> Any:
        return serialization.column_from_config(
            cls, config, custom_objects, columns_by_name
        )


class CategoricalLogic(ColumnLogic):
    """A column of ids."""

    num_buckets: Any

    def _id_weight_pair(self, source: Source) -> IdWeightPair:
        return IdWeightPair(source.get(self), None)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """See `CategoricalColumn`."""
        return self._id_weight_pair(CacheSource(transformation_cache, state_manager))

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self._id_weight_pair(
            BuilderSource(inputs, weight_collections, trainable)
        )

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets  # type: ignore[no-any-return]


class DenseLogic(ColumnLogic):
    """A column with a dense tensor that needs no variable."""

    variable_shape: Any

    def _dense(self, source: Source, is_earlier: bool) -> Any:
        """The tensor; by default the result of the column itself."""
        return source.get(self)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """See `DenseColumn`."""
        return self._dense(CacheSource(transformation_cache, state_manager), False)

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self._dense(BuilderSource(inputs, weight_collections, trainable), True)

    @property
    def _variable_shape(self) -> Any:
        return self.variable_shape


def _is_v2(parent: Any) -> bool:
    if isinstance(parent, str):
        return True
    return isinstance(parent, FeatureColumn) and parent._is_v2_column


def spec_of(column: Any) -> dict[str, Any]:
    """What is parsed for a column of either interface (a copy)."""
    if isinstance(column, FeatureColumn):
        return dict(column.parse_example_spec)
    return dict(column._parse_example_spec)


def buckets_of(column: Any) -> int:
    """The number of ids of a categorical column of either interface."""
    if isinstance(column, FeatureColumn):
        return column.num_buckets  # type: ignore[attr-defined, no-any-return]
    return column._num_buckets  # type: ignore[no-any-return]
