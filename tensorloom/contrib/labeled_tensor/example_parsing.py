"""Features of Examples as labeled tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorloom.contrib.labeled_tensor.axis import Axis, AxisLike, as_axis
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.ops.parsing import parsing_features


@export("contrib.labeled_tensor.FixedLenFeature")
class FixedLenFeature:
    """A feature of fixed size, with the axes of its tensor."""

    def __init__(
        self, axes: Sequence[AxisLike], dtype: Any, default_value: Any = None
    ) -> None:
        """Describes the feature.

        Args:
          axes: its axes, or pairs of name and value.
          dtype: of its elements.
          default_value: for an Example that lacks the feature.
        """
        self._axes = list(map(as_axis, axes))
        self._dtype = dtype
        self._default_value = default_value

    @property
    def axes(self) -> list[Axis]:
        """The axes."""
        return self._axes

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def default_value(self) -> Any:
        """What an Example has that lacks the feature, or None."""
        return self._default_value


def unlabeled_features(
    features: Mapping[str, FixedLenFeature],
) -> dict[str, parsing_features.FixedLenFeature]:
    """The features without axes. Raises ValueError where a size is not known."""
    unlabeled = {}
    for name, feature in features.items():
        shape = [axis.size for axis in feature.axes]
        if None in shape:
            raise ValueError("axes with unknown size are not supported")
        unlabeled[name] = parsing_features.FixedLenFeature(
            shape, feature.dtype, feature.default_value
        )
    return unlabeled


@export("contrib.labeled_tensor.parse_example")
@checked
def parse_example(
    serialized: LabeledTensorLike,
    features: Mapping[str, FixedLenFeature],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, LabeledTensor]:
    """The features of a batch of serialized Examples.

    Args:
      serialized: strings, with one axis.
      features: what is read.
      name: of the operations.
      example_names: strings for messages, or None.

    Returns:
      For each feature a labeled tensor: the axis of `serialized`, then the feature's.

    Raises:
      ValueError: a feature has an axis of unknown size.
    """
    serialized = convert_to_labeled_tensor(serialized)
    parsed = parsing_features.parse_example(
        serialized.tensor, unlabeled_features(features), name, example_names
    )
    batch = list(serialized.axes.values())
    return {
        key: LabeledTensor(tensor, batch + features[key].axes)
        for key, tensor in parsed.items()
    }


@export("contrib.labeled_tensor.parse_single_example")
@checked
def parse_single_example(
    serialized: LabeledTensorLike,
    features: Mapping[str, FixedLenFeature],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, LabeledTensor]:
    """The features of one serialized Example.

    Args:
      serialized: a string.
      features: what is read.
      name: of the operations.
      example_names: a string for messages, or None.

    Returns:
      For each feature a labeled tensor with its axes.

    Raises:
      ValueError: a feature has an axis of unknown size.
    """
    serialized = convert_to_labeled_tensor(serialized)
    parsed = parsing_features.parse_single_example(
        serialized.tensor, unlabeled_features(features), name, example_names
    )
    return {
        key: LabeledTensor(tensor, features[key].axes) for key, tensor in parsed.items()
    }
