"""What a data set is, how its records are decoded, and who gives tensors of them."""

from __future__ import annotations

import abc
from collections.abc import KeysView, Mapping, Sequence
from typing import Any

from tensorloom.contrib.slim.parallel_reading import parallel_read
from tensorloom.framework.export import export


@export("contrib.slim.dataset.Dataset")
class Dataset:
    """A description of a data set; each argument is an attribute.

    Args:
      data_sources: file names or patterns.
      reader: class of a reader, such as `tf.TFRecordReader`.
      decoder: a `DataDecoder`.
      num_samples: how many records there are.
      items_to_descriptions: from items of the decoder to texts.
      **kwargs: more attributes.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: Mapping[str, str],
        **kwargs: Any,
    ) -> None:
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        self.__dict__.update(kwargs)


@export("contrib.slim.data_decoder.DataDecoder")
class DataDecoder(abc.ABC):
    """Makes tensors of a record."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Any) -> list[Any]:
        """The tensors of some items, in their order.

        Args:
          data: a record, as a string tensor.
          items: names of items.
        """

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The names of all items."""


@export("contrib.slim.data_provider.DataProvider")
class DataProvider(abc.ABC):  # noqa: B024 - a base class without open methods
    """Gives tensors of items.

    Args:
      items_to_tensors: from names of items to tensors.
      num_samples: how many records there are.
    """

    def __init__(
        self, items_to_tensors: dict[str, Any], num_samples: int | None
    ) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """The tensors of some items, in their order.

        Raises:
          ValueError: there is no such item, or `items` is no list.
        """
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        known = self.list_items()
        for item in items:
            if item not in known:
                raise ValueError(
                    f"Item [{item}] is invalid. Valid entries include: {list(known)}"
                )
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> KeysView[str]:
        """The names of all items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int | None:
        """How many records there are."""
        return self._num_samples


@export("contrib.slim.dataset_data_provider.DatasetDataProvider")
class DatasetDataProvider(DataProvider):
    """Gives the records of a `Dataset`, one in a step, read by several readers.

    Args:
      dataset: the data set.
      num_readers: how many files are read at the same time.
      reader_kwargs: arguments of each reader.
      shuffle: whether files and records come in random order.
      num_epochs: how often each file is read; None for no end.
      common_queue_capacity: how many records wait at most.
      common_queue_min: how many wait at least, where they are shuffled.
      record_key: the item that is the key of the record.
      seed: of the order.
      scope: of the operations.

    Raises:
      ValueError: there are no files, or `record_key` is an item of the data set.
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, data = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(data, items), strict=False))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a "
                f"dataset item: {record_key}"
            )
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
