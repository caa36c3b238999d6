"""Trains linear models of `tf.contrib.layers`' columns by dual coordinate ascent."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.contrib.layers.columns.crossed import _CrossedColumn
from tensorloom.contrib.layers.columns.real_valued import (
    _BucketizedColumn,
    _RealValuedColumn,
)
from tensorloom.contrib.layers.columns.sparse import (
    _SparseColumn,
    _WeightedSparseColumn,
)
from tensorloom.estimator.canned.linear_sdca import _distinct_ids
from tensorloom.estimator.canned.sdca_model import (
    SdcaExamples,
    SdcaModel,
    SdcaOptions,
    SparseFeature,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import rank, shape
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import less_equal, not_equal

SLOT_SUFFIX: Final = "_unshrinked/SDCAOptimizer"


@export("contrib.linear_optimizer.SDCAOptimizer")
class SDCAOptimizer:
    """The optimizer, for the linear models of `tf.contrib.learn`.

    Args:
      example_id_column: the key of the feature that has the examples' ids, string.
      num_loss_partitions: how many workers train on parts of the data.
      num_table_shards: how many tables keep the examples' dual variables; one when
        None.
      symmetric_l1_regularization: by the weights' absolute values.
      symmetric_l2_regularization: by their squares.
      adaptive: whether examples with large losses come more often.
      partitioner: cuts the weights.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Any = None,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive
        self._partitioner = partitioner

    def get_name(self) -> str:
        """`SDCAOptimizer`."""
        return "SDCAOptimizer"

    @property
    def example_id_column(self) -> str:
        """The key of the examples' ids."""
        return self._example_id_column

    @property
    def num_loss_partitions(self) -> int:
        """How many workers train on parts of the data."""
        return self._num_loss_partitions

    @property
    def num_table_shards(self) -> int | None:
        """How many tables keep the examples' dual variables."""
        return self._num_table_shards

    @property
    def symmetric_l1_regularization(self) -> float:
        """By the weights' absolute values."""
        return self._symmetric_l1_regularization

    @property
    def symmetric_l2_regularization(self) -> float:
        """By the weights' squares."""
        return self._symmetric_l2_regularization

    @property
    def adaptive(self) -> bool:
        """Whether examples with large losses come more often."""
        return self._adaptive

    @property
    def partitioner(self) -> Any:
        """What cuts the weights."""
        return self._partitioner

    def get_train_step(
        self,
        columns_to_variables: dict[Any, Any],
        weight_column_name: str | None,
        loss_type: str,
        features: dict[Any, Any],
        targets: Any,
        global_step: Any,
    ) -> tuple[SdcaModel, Any]:
        """A model of a batch and its training step.

        Args:
          columns_to_variables: the variables of each column.
          weight_column_name: the key of the examples' weights; ones when None.
          loss_type: "logistic_loss", "squared_loss", "hinge_loss", ...
          features: tensors by their keys, and by columns.
          targets: labels [batch] or [batch, 1].
          global_step: counts the steps; None: nothing counts them.

        Raises:
          ValueError: a column is of another kind, or a regularization negative.
        """
        for name in ("symmetric_l1_regularization", "symmetric_l2_regularization"):
            if getattr(self, name) < 0.0:
                raise ValueError(
                    f"{name} should be non-negative. Found ({getattr(self, name):f})"
                )
        dense, dense_weights, sparse, sparse_weights = [], [], [], []
        for column in sorted(columns_to_variables, key=lambda column: str(column.key)):
            variables = columns_to_variables[column]
            feature = _feature(column, features[column])
            if isinstance(feature, SparseFeature):
                sparse.append(feature)
                sparse_weights.append(variables if len(variables) > 1 else variables[0])
            else:
                dense.append(feature)
                dense_weights.append(variables[0])
        if weight_column_name:
            weights = reshape(features[weight_column_name], shape=[-1])
        else:
            weights = ones([shape(targets)[0]])
        labels = cast(reshape(targets, shape=[-1]), dtypes.float32)
        ids = features[self._example_id_column]
        model = SdcaModel(
            SdcaExamples(sparse, dense, labels, weights, ids),
            sparse_weights,
            dense_weights,
            SdcaOptions(
                loss_type=loss_type,
                l1=self._symmetric_l1_regularization,
                # The algorithm does not converge with less.
                l2=max(self._symmetric_l2_regularization, 1.0),
                num_loss_partitions=self._num_loss_partitions,
                num_table_shards=self._num_table_shards or 1,
                adaptive=self._adaptive,
                suffix=SLOT_SUFFIX,
            ),
        )
        return model, model.minimize(global_step)


class _Weighted:
    """Ids with weights, as `_distinct_ids` takes them."""

    def __init__(self, id_tensor: Any, weight_tensor: Any) -> None:
        self.id_tensor = id_tensor
        self.weight_tensor = weight_tensor


def _feature(column: Any, tensor: Any) -> Any:
    """A column's tensor as the model takes it: [batch, size], or a `SparseFeature`."""
    if isinstance(column, _RealValuedColumn):
        message = "transformed_tensor should have rank at most 2."
        check = Assert(less_equal(rank(tensor), 2), [message])
        with control_dependencies([check]):
            return reshape(tensor, [shape(tensor)[0], -1])
    if isinstance(column, _BucketizedColumn):
        one_hot = column._to_dnn_input_layer(tensor)
        places = where(not_equal(one_hot, cast(0.0, one_hot.dtype)))
        values = cast(gather_nd(one_hot, places), dtypes.float32)
        return SparseFeature(places[:, 0], places[:, 1], reshape(values, [-1]))
    if isinstance(column, _WeightedSparseColumn):
        ids, weights = column.id_tensor(tensor), column.weight_tensor(tensor)
        return _distinct_ids(_Weighted(ids, weights))
    if isinstance(column, _CrossedColumn | _SparseColumn):
        return _distinct_ids(_Weighted(tensor, None))
    raise ValueError(
        f"SDCAOptimizer does not support column type {type(column).__name__}."
    )
