"""What columns are parsed from, and their tensors of serialized Examples."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.layers.columns.interfaces import (
    LazyTensors,
    _FeatureColumn,
    check_feature_columns,
    in_order,
)
from tensorloom.contrib.layers.columns.names import declared, declared_column
from tensorloom.contrib.layers.columns.real_valued import real_valued_column
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.placeholder import placeholder, sparse_placeholder
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.parsing.parsing_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    parse_example,
    parse_single_sequence_example,
)


@declared_column("create_feature_spec_for_parsing")
def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """What `tf.parse_example` parses the columns from, by the features' names.

    Args:
      feature_columns: columns, or a dict of them.

    Raises:
      TypeError: something is no column.
    """
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, _FeatureColumn):
            raise TypeError(
                "feature_columns should only contain instances of _FeatureColumn. "
                f"Given column is {column}"
            )
        found.update(column.config)
    return found


def create_sequence_feature_spec_for_parsing(
    sequence_feature_columns: Any, allow_missing_by_default: bool = False
) -> dict[str, Any]:
    """The same for sequences, each step of which has what an Example would have.

    Args:
      allow_missing_by_default: whether sequences may be absent; those of columns with
        default values always may.

    Raises:
      TypeError: something is no column.
    """
    found = create_feature_spec_for_parsing(sequence_feature_columns)
    for key, feature in found.items():
        if isinstance(feature, VarLenFeature):
            continue
        has_default = feature.default_value is not None
        if has_default:
            program_log.warning(
                'Found default value %s for feature "%s". Ignoring this value and '
                "setting `allow_missing=True` instead.",
                feature.default_value,
                key,
            )
        found[key] = FixedLenSequenceFeature(
            shape=feature.shape,
            dtype=feature.dtype,
            allow_missing=allow_missing_by_default or has_default,
        )
    return found


@declared_column("make_place_holder_tensors_for_base_features")
def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """Placeholders for the features of columns, sparse where these are."""
    found = {}
    for name, feature in create_feature_spec_for_parsing(feature_columns).items():
        title = f"Placeholder_{name}"
        if isinstance(feature, VarLenFeature):
            found[name] = sparse_placeholder(feature.dtype, name=title)
        else:
            assert isinstance(feature, FixedLenFeature)
            size = (None, feature.shape[0])
            found[name] = placeholder(feature.dtype, shape=size, name=title)
    return found


@declared("parse_feature_columns_from_examples")
def parse_feature_columns_from_examples(
    serialized: Any,
    feature_columns: Collection[Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[Any, Any]:
    """Tensors of features and of columns, of serialized Examples.

    Args:
      serialized: strings `[batch]`.
      feature_columns: the columns.
      name: of the operation.
      example_names: strings `[batch]`, for error messages.

    Raises:
      ValueError: columns that are the same.
    """
    check_feature_columns(feature_columns)
    tensors = parse_example(
        serialized=serialized,
        features=create_feature_spec_for_parsing(feature_columns),
        name=name,
        example_names=example_names,
    )
    transformed(tensors, feature_columns)
    return dict(tensors)


def transformed(tensors: dict[Any, Any], feature_columns: Collection[Any]) -> None:
    """Adds the tensors of columns to those of features."""
    builder = LazyTensors(tensors)
    for column in in_order(feature_columns):
        builder.get(column)


@declared("transform_features")
def transform_features(
    features: dict[Any, Any], feature_columns: Collection[Any]
) -> dict[Any, Any]:
    """The tensors of columns, by these.

    Args:
      features: tensors by the features' names.
      feature_columns: the columns.

    Raises:
      ValueError: columns that are the same, or features that are not there.
    """
    check_feature_columns(feature_columns)
    tensors = features.copy()
    transformed(tensors, feature_columns)
    return {key: value for key, value in tensors.items() if key in feature_columns}


@declared("parse_feature_columns_from_sequence_examples")
def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Collection[Any] | None,
    sequence_feature_columns: Collection[Any] | None,
    name: str | None = None,
    example_name: Any = None,
) -> Any:
    """The features of columns, of one serialized SequenceExample.

    Args:
      serialized: one string.
      context_feature_columns: of the features of the whole.
      sequence_feature_columns: of the lists of features.
      name: of the operation.
      example_name: a string, for error messages.

    Returns:
      Two dicts of tensors by the features' names: of the whole, and of the lists.

    Raises:
      ValueError: more strings, or columns that are the same.
    """
    try:
        serialized = reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done "
            f"after parsing for sequence examples. Error: {error}"
        ) from None
    context = context_feature_columns or []
    sequences = sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(sequences)
    return parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context),
        create_sequence_feature_spec_for_parsing(sequences),
        example_name,
        name,
    )


@declared("infer_real_valued_columns")
def infer_real_valued_columns(features: Any) -> list[Any]:
    """Columns of numbers for dense tensors.

    Args:
      features: tensors by the features' names, or one tensor.

    Raises:
      ValueError: a tensor is sparse, or has no numbers.
    """
    given = features if isinstance(features, dict) else {"": features}
    return [_real_valued(name, tensor) for name, tensor in given.items()]


def _real_valued(name: str, tensor: Any) -> Any:
    ask = f"Please define corresponding FeatureColumn for tensor {name} {tensor}."
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. {ask}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. "
            f"{ask}"
        )
    dimension = 1
    for size in tensor.get_shape().as_list()[1:]:
        dimension *= size
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)
