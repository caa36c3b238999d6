"""Heads of sequences: one prediction for each step, as far as a mask goes."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tensorloom.estimator.heads.head import Head
from tensorloom.estimator.heads.multi_head import MultiHead
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.graph.graph import (
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.debugging import check
from tensorloom.ops.indexing.selection import boolean_mask
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.sparse.sparse_builders import sparse_reorder

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec


class SequentialHead(Head):
    """A head of sequences; a mask among the features says which steps are there."""

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self) -> str:
        """The name of the feature that is the mask, bool `[batch, steps]`."""


class SequentialHeadWrapper(SequentialHead):
    """A head that sees the steps of all sequences as so many examples."""

    def __init__(
        self,
        static_head: Head,
        sequence_length_mask: str = "sequence_length_mask",
        feature_columns: Any = None,
    ) -> None:
        """Makes a head.

        Args:
          static_head: the head for each step.
          sequence_length_mask: the name of the feature that is the mask.
          feature_columns: names of features, or one, that the head reads: weights.

        Raises:
          TypeError: a name is no string.
          ValueError: the head is a `MultiHead`.
        """
        if not isinstance(sequence_length_mask, str):
            raise TypeError(
                "`sequence_mask` column must be a string. Given type: "
                f"{type(sequence_length_mask)}."
            )
        self._mask_key = sequence_length_mask
        self._feature_columns = _names(feature_columns or [])
        if isinstance(static_head, MultiHead):
            raise ValueError(
                "`MultiHead` is not supported with `SequentialHeadWrapper`."
            )
        self._static_head = static_head

    def _flatten(
        self, labels: Any, logits: Any, features: Mapping[Any, Any]
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Labels, logits and features of the steps that are there, one a row."""
        if self._mask_key not in features:
            raise ValueError(
                f"The provided sequence_length_mask key `{self._mask_key}` should be "
                "included in the features dictionary, but was not found. Found keys: "
                f"{list(features)}."
            )
        mask = features[self._mask_key]
        rank = mask.get_shape().ndims
        if rank != 2:
            raise ValueError(
                f"Mask is expected to have two dimensions, got {rank} instead."
            )
        with name_scope("flatten"):
            expected = reduce_sum(cast(mask, dtypes.int32))
            flat_logits = _flatten_tensor(logits, mask, expected)
            flat_labels = _flatten_tensor(labels, mask, expected)
            flat_features = {}
            for column in self._feature_columns:
                if column not in features:
                    raise ValueError(
                        f"`{column}` column expected in features dictionary."
                    )
                flat_features[column] = _flatten_tensor(
                    features[column], mask, expected
                )
            return flat_labels, flat_logits, flat_features

    def loss(  # type: ignore[override]
        self,
        logits: Any,
        labels: Any,
        features: Mapping[Any, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """The loss of the steps that are there, a scalar; see `Head.loss`."""
        flat_labels, flat_logits, flat_features = self._flatten(
            labels, logits, features or {}
        )
        return self._static_head.loss(
            logits=flat_logits,
            labels=flat_labels,
            features=flat_features,
            mode=mode,
            regularization_losses=regularization_losses,
        )

    def create_estimator_spec(
        self,
        features: Mapping[Any, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """See `Head.create_estimator_spec`.

        Predictions are those of all steps, and the mask is among them.
        """
        if mode == ModeKeys.PREDICT:
            spec = self._static_head.create_estimator_spec(
                features=features, mode=mode, logits=logits
            )
            spec.predictions[self._mask_key] = features[self._mask_key]
            return spec
        flat_labels, flat_logits, flat_features = self._flatten(
            labels, logits, features
        )
        return self._static_head.create_estimator_spec(
            features=flat_features,
            mode=mode,
            logits=flat_logits,
            trainable_variables=trainable_variables,
            labels=flat_labels,
            optimizer=optimizer,
            train_op_fn=train_op_fn,
            regularization_losses=regularization_losses,
            update_ops=update_ops,
        )

    def update_metrics(
        self,
        eval_metrics: Any,
        features: Mapping[Any, Any],
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """Makes the metrics' updates for the steps that are there."""
        flat_labels, flat_logits, flat_features = self._flatten(
            labels, logits, features
        )
        return self._static_head.update_metrics(
            eval_metrics=eval_metrics,
            features=flat_features,
            logits=flat_logits,
            labels=flat_labels,
            regularization_losses=regularization_losses,
        )

    def _create_tpu_estimator_spec(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "A head of sequences has no specification for TPUs, as in TensorFlow."
        )

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> Any:
        """The predictions of the head for each step."""
        return self._static_head.predictions(logits, keys=keys)

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> Any:
        """The metrics of the head for each step."""
        return self._static_head.metrics(regularization_losses)

    @property
    def input_sequence_mask_key(self) -> str:
        """The name of the feature that is the mask."""
        return self._mask_key

    @property
    def logits_dimension(self) -> Any:
        """That of the head for each step."""
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """That of the head for each step."""
        return self._static_head.loss_reduction

    @property
    def name(self) -> str | None:
        """The name of the head for each step, with `_sequential` after it."""
        name = self._static_head.name
        return f"{name}_sequential" if name else None

    @property
    def static_head(self) -> Head:
        """The head for each step."""
        return self._static_head


def _names(feature_columns: Any) -> list[str]:
    if not isinstance(feature_columns, Iterable):
        raise TypeError(
            "`feature_columns` must be either a string or an iterable of strings got "
            f"{type(feature_columns)} instead."
        )
    if isinstance(feature_columns, str):
        return [feature_columns]
    names = list(feature_columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"Column must a string. Given type: {type(name)}.")
    return names


def _flatten_tensor(tensor: Any, mask: Any, expected_length: Any) -> Any:
    """The steps that are there, one a row: `[expected_length, D2, ..., DN]`.

    What has two dimensions gets a last one of size 1.

    Args:
      tensor: `[batch, steps, D2, ..., DN]`. If sparse, it has the steps there are.
      mask: bool `[batch, steps]`.
      expected_length: how many are there, checked when it runs.

    Raises:
      ValueError: fewer than two dimensions.
    """
    shape = tensor.get_shape()
    if shape.ndims < 2:
        raise ValueError(
            "Input tensor expected to have at least 2 dimensions, got "
            f"{shape.ndims} instead."
        )
    if isinstance(tensor, SparseTensor):
        # Rows in the order of a dense tensor.
        flat = sparse_reorder(tensor).values
        if shape.ndims > 2:
            flat = reshape(flat, concat([[-1], shape[2:]], axis=0))
    elif isinstance(tensor, Tensor):
        flat = boolean_mask(tensor, mask)
    else:
        raise ValueError(
            f"`tensor` expected to be a `Tensor` or  `SparseTensor` got `{tensor}` "
            "instead."
        )
    if shape.ndims == 2:
        flat = expand_dims(flat, -1)
        expected = concat([[expected_length], [1]], axis=0)
    else:
        expected = concat([[expected_length], shape[2:]], axis=0)
    fits = check.assert_equal(
        shape_of(flat),
        expected,
        message="Tensor shape is incompatible with provided mask.",
    )
    with control_dependencies([fits]):
        return identity(flat)
