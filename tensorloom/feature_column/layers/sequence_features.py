"""`tf.keras.experimental.SequenceFeatures`: sequences, with their lengths."""

from __future__ import annotations

from typing import Any

from tensorloom.feature_column import checks
from tensorloom.feature_column.interfaces import SequenceDenseColumn
from tensorloom.feature_column.layers.features_layer import FeaturesLayer, check_is_dict
from tensorloom.feature_column.sources import FeatureTransformationCache
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank as check_rank_ops
from tensorloom.ops.debugging import check_type as check_type_ops


@export("keras.experimental.SequenceFeatures")
class SequenceFeatures(FeaturesLayer):
    """The sequences of columns, side by side in each step.

    Args:
      feature_columns: columns of sequences: `sequence_numeric_column`, and embeddings
        and indicators over `sequence_categorical_column_with_*`.
      trainable: whether the variables are.
      name: of the layer, and of the scope of its variables.

    Raises:
      ValueError: a column of no sequences, or columns of one name.
    """

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            feature_columns=feature_columns,
            trainable=trainable,
            name=name,
            expected_column_type=SequenceDenseColumn,
            **kwargs,
        )

    def _target_shape(self, input_shape: Any, total_elements: int) -> Any:
        return (input_shape[0], input_shape[1], total_elements)

    def call(self, features: dict[Any, Any]) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(tensors side by side [batch, steps, size], lengths int64 [batch]).

        Raises:
          ValueError: features that are not in a dict, or batch sizes that differ.
          InvalidArgumentError: in the step, sequences of different lengths.
        """
        check_is_dict(features)
        cache = FeatureTransformationCache(features)
        tensors, lengths = [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                dense, length = column.get_sequence_dense_tensor(
                    cache, self._state_manager
                )
                tensors.append(self._process_dense_tensor(column, dense))
                lengths.append(length)
        checks.check_batch_sizes(lengths, self._feature_columns)
        length = all_equal(lengths)
        return self._verify_and_concat_tensors(tensors), length


def all_equal(tensors: list[Tensor]) -> Tensor:
    """The first, after a check that the others are equal to it."""
    with name_scope(None, "assert_all_equal", values=tensors):
        if len(tensors) == 1:
            return tensors[0]
        tests = [check_ops.assert_equal(tensors[0], other) for other in tensors[1:]]
        with control_dependencies(tests):
            return array_ops.identity(tensors[0])


def concatenate_context_input(context_input: Tensor, sequence_input: Tensor) -> Tensor:
    """Each step of sequences with the context of its example behind it.

    Args:
      context_input: float32 [batch, m].
      sequence_input: float32 [batch, steps, n].

    Returns:
      float32 [batch, steps, n + m].

    Raises:
      ValueError: another rank. TypeError: another dtype.
    """
    tests = [
        check_rank_ops.assert_rank(
            sequence_input,
            3,
            message="sequence_input must have rank 3",
            data=[array_ops.shape(sequence_input)],
        ),
        _is_float("sequence_input", sequence_input),
        check_rank_ops.assert_rank(
            context_input,
            2,
            message="context_input must have rank 2",
            data=[array_ops.shape(context_input)],
        ),
        _is_float("context_input", context_input),
    ]
    with control_dependencies(tests):
        steps = array_ops.shape(sequence_input)[1]
        repeats = array_ops.concat([[1], [steps], [1]], 0)
        tiled = array_ops.tile(array_ops.expand_dims(context_input, 1), repeats)
    return array_ops.concat([sequence_input, tiled], 2)


def _is_float(name: str, tensor: Tensor) -> Any:
    return check_type_ops.assert_type(
        tensor,
        dtypes.float32,
        message=f"{name} must have dtype float32; got {tensor.dtype}.",
    )
