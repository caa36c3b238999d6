"""What datasets and iterators tell and do, as functions: `tf.data.get_output_types`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.data import nest
from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset
    from tensorloom.data.iterators import Iterator


@export("data.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """`dataset.make_one_shot_iterator()`."""
    return dataset.make_one_shot_iterator()


@export("data.make_initializable_iterator")
def make_initializable_iterator(
    dataset: Dataset, shared_name: str | None = None
) -> Iterator:
    """`dataset.make_initializable_iterator()`."""
    return dataset.make_initializable_iterator(shared_name)


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of an element.

    Raises:
      TypeError: the argument is no dataset or iterator.
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        ) from None


@export("data.get_output_classes")
def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The class of each component."""
    structure = get_structure(dataset_or_iterator)
    return nest.map_structure(lambda s: s.legacy_classes, structure)


@export("data.get_output_shapes")
def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shape of each component."""
    structure = get_structure(dataset_or_iterator)
    return nest.map_structure(lambda s: s.legacy_shapes, structure)


@export("data.get_output_types")
def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtype of each component."""
    structure = get_structure(dataset_or_iterator)
    return nest.map_structure(lambda s: s.legacy_types, structure)
