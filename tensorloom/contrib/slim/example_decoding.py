"""`TFExampleDecoder`: items of serialized examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.slim.datasets import DataDecoder
from tensorloom.framework.export import export
from tensorloom.ops.array.array_ops import reshape
from tensorloom.ops.parsing.parsing_features import (
    FixedLenFeature,
    parse_single_example,
)

if TYPE_CHECKING:
    from tensorloom.contrib.slim.item_handlers import ItemHandler


@export("contrib.slim.tfexample_decoder.TFExampleDecoder")
class TFExampleDecoder(DataDecoder):
    """Parses a `tf.train.Example` and makes items of its features.

    Args:
      keys_to_features: from names of features to what they are, as in
        `tf.parse_single_example`.
      items_to_handlers: from names of items to handlers.
    """

    def __init__(
        self,
        keys_to_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of all items."""
        return list(self._items_to_handlers)

    def decode(
        self, serialized_example: Any, items: Sequence[str] | None = None
    ) -> list[Any]:
        """The tensors of some items, in their order; of all when None.

        Args:
          serialized_example: a scalar string tensor.
          items: names of items.
        """
        example = parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, FixedLenFeature):
                # Its static shape is known then, whatever the parser says.
                example[key] = reshape(example[key], feature.shape)
        tensors: list[Any] = []
        for item in items or self.list_items():
            handler = self._items_to_handlers[item]
            of_item = {key: example[key] for key in handler.keys}
            tensors.append(handler.tensors_to_item(of_item))
        return tensors
