"""How transformations make and know datasets: `dataset.py` registers the classes.

Datasets have transformations as methods; so these do not import the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.data import specs
from tensorloom.framework.registry import late_modules

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset
    from tensorloom.data.type_spec import TypeSpec
    from tensorloom.framework.graph.tensor import Tensor

_CLASSES: dict[str, type] = {}


def register_classes(**classes: type) -> None:
    """Registers the class of any "dataset", of a "made" one, and of a "spec"."""
    _CLASSES.update(classes)


def _class(kind: str) -> Any:
    late_modules.load_kind("dataset")
    return _CLASSES[kind]


def new_dataset(
    variant: Tensor, element_spec: Any, inputs: Sequence[Dataset] = ()
) -> Dataset:
    """The dataset of a node; see `Dataset` for the arguments."""
    made: Dataset = _class("made")(variant, element_spec, inputs)
    return made


def is_dataset(value: Any) -> bool:
    """Whether a value is a dataset."""
    return isinstance(value, _class("dataset"))


def dataset_spec(element_spec: Any) -> TypeSpec:
    """The spec of a dataset whose elements have that one."""
    spec: TypeSpec = _class("spec")(element_spec)
    return spec


def is_dataset_spec(spec: Any) -> bool:
    """Whether a spec is that of a dataset."""
    return isinstance(spec, _class("spec"))


def flat_structure(element_spec: Any) -> dict[str, Any]:
    """The attrs output_types and output_shapes of a structure."""
    return {
        "output_types": specs.flat_types(element_spec),
        "output_shapes": specs.flat_shapes(element_spec),
    }
