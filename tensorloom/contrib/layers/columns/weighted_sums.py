"""Linear models of columns: weights for each, or for all of them in one table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.framework.model_variables import model_variable
from tensorloom.contrib.layers.columns.input_layers import of_rank, with_global
from tensorloom.contrib.layers.columns.interfaces import (
    LazyTensors,
    LinearLookup,
    check_feature_columns,
    in_order,
)
from tensorloom.contrib.layers.columns.tables import restore, variable_parts
from tensorloom.contrib.layers.encoders import safe_embedding_lookup_sparse
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.nn.bias import bias_add
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.sparse.shape_builders import sparse_concat
from tensorloom.ops.state.initializers import Zeros

# The sums, the variables that they are made of, and the bias.
_Sums = tuple[Any, Any, Any]


@export(
    "contrib.layers.weighted_sum_from_feature_columns",
    "contrib.slim.weighted_sum_from_feature_columns",
)
def weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Collection[Any],
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> _Sums:
    """Weighted sums of columns plus a bias, with variables of each column.

    Args:
      columns_to_tensors: tensors by the features' names, or by columns.
      feature_columns: the columns.
      num_outputs: how many sums there are.
      weight_collections: of the variables.
      trainable: whether they are trained.
      scope: of the variables.

    Returns:
      The sums `[batch, num_outputs]`, for each column a list of its variables, and the
      bias.

    Raises:
      ValueError: columns that are the same, or that linear models cannot have.
    """
    tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    with variable_scope(
        scope,
        default_name="weighted_sum_from_feature_columns",
        values=tensors.values(),
    ):
        builder = LazyTensors(tensors)
        sums, weights = [], {}
        for column in in_order(feature_columns):
            tensor = builder.get(column)
            with_weights = (num_outputs, trainable, weight_collections)
            parts, total = _column_sum(column, tensor, tensors, with_weights)
            sums.append(reshape(total, shape=(-1, num_outputs)))
            weights[column] = parts
            restore(column._checkpoint_path(), parts)
        total, bias = _with_bias(
            add_n(sums), num_outputs, trainable, weight_collections
        )
        return total, weights, bias


def _column_sum(
    column: Any, tensor: Any, tensors: dict[Any, Any], variables: tuple[int, bool, Any]
) -> tuple[list[Any], Any]:
    """The variables of a column, and its part of the sums."""
    num_outputs, trainable, collections = variables
    try:
        lookup = column._wide_embedding_lookup_arguments(tensor)
    except ValueError as error:
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}.\n{error}"
        ) from None
    except NotImplementedError:
        lookup = None
    with variable_scope(None, default_name=column.name, values=tensors.values()):
        if lookup is not None:
            return _looked_up(lookup, f"{column.name}_weights", variables)
        dense = of_rank(column._to_dense_tensor(tensor), column.name, rank=2)
        weight = model_variable(
            name="weight",
            shape=[dense.get_shape()[1], num_outputs],
            initializer=Zeros(),
            trainable=trainable,
            collections=collections,
        )
        return [weight], matmul(dense, weight, name="matmul")


def _looked_up(
    lookup: LinearLookup, name: str, variables: tuple[int, bool, Any]
) -> tuple[list[Any], Any]:
    num_outputs, trainable, collections = variables
    parts = variable_parts(
        model_variable(
            name="weights",
            shape=[lookup.vocab_size, num_outputs],
            dtype=dtypes.float32,
            initializer=lookup.initializer,
            trainable=trainable,
            collections=collections,
        )
    )
    total = safe_embedding_lookup_sparse(
        parts,
        lookup.input_tensor,
        sparse_weights=lookup.weight_tensor,
        combiner=lookup.combiner,
        name=name,
    )
    return parts, total


def _with_bias(
    total: Any, num_outputs: int, trainable: bool, collections: Any
) -> tuple[Any, Any]:
    bias = model_variable(
        "bias_weight",
        shape=[num_outputs],
        initializer=Zeros(),
        trainable=trainable,
        collections=with_global(collections),
    )
    return bias_add(total, bias), bias


@export(
    "contrib.layers.joint_weighted_sum_from_feature_columns",
    "contrib.slim.joint_weighted_sum_from_feature_columns",
)
def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Collection[Any],
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> _Sums:
    """Weighted sums of columns plus a bias, with one variable for all columns.

    Args:
      feature_columns: of categories without weights that are summed.
      columns_to_tensors, ...: as of `weighted_sum_from_feature_columns`.

    Returns:
      The sums `[batch, num_outputs]`, the list of the variable's parts, and the bias.

    Raises:
      NotImplementedError: columns of numbers.
      ValueError: columns that are the same.
      AssertionError: columns with weights, or that are not summed.
    """
    tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    with variable_scope(
        scope,
        default_name="joint_weighted_sum_from_feature_columns",
        values=tensors.values(),
    ):
        builder = LazyTensors(tensors)
        lookups = []
        for column in in_order(feature_columns):
            tensor = builder.get(column)
            try:
                lookups.append(column._wide_embedding_lookup_arguments(tensor))
            except NotImplementedError:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use "
                    "weighted_sum_from_feature_columns instead, or bucketize these "
                    "columns."
                ) from None
        joint = _joined(lookups)
        with variable_scope(
            None, default_name="linear_weights", values=tensors.values()
        ):
            parts, total = _looked_up(
                joint, "_weights", (num_outputs, trainable, weight_collections)
            )
        total, bias = _with_bias(total, num_outputs, trainable, weight_collections)
        return total, parts, bias


def _joined(lookups: list[LinearLookup]) -> LinearLookup:
    """All ids in one table, each column's after those of the columns before it."""
    if not lookups:
        raise AssertionError("At least one column must be in the model.")
    size, shifted = 0, []
    for lookup in lookups:
        if lookup.weight_tensor is not None:
            raise AssertionError(
                "Joint sums for weighted sparse columns are not supported. Please use "
                "weighted_sum_from_feature_columns instead."
            )
        if lookup.combiner != "sum":
            raise AssertionError(
                "Combiners other than sum are not supported for joint sums. Please use "
                "weighted_sum_from_feature_columns instead."
            )
        ids = lookup.input_tensor
        shifted.append(SparseTensor(ids.indices, ids.values + size, ids.dense_shape))
        size += lookup.vocab_size
    return LinearLookup(sparse_concat(1, shifted), None, size, Zeros(), "sum")
