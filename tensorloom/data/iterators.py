"""`tf.data.Iterator`: the position in a dataset, and its next element."""

from __future__ import annotations

from collections.abc import Iterator as PythonIterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tensorloom.data import nest, specs
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph import (
    add_to_collection,
    colocate_with,
    device,
    name_scope,
)
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


# The collection of the handles of a graph's iterators.
GLOBAL_ITERATORS: Final = "iterators"


@contextmanager
def on_cpu_by_default() -> PythonIterator[None]:
    """Puts iterators on the CPU unless the program chose a device."""
    if get_default_graph()._scopes.devices:
        yield
    else:
        with device("/cpu:0"):
            yield


class _IteratorSaveable(SaveableObject):
    """The position of an iterator as what a saver saves."""

    def __init__(self, handle: Tensor, key: str, name: str) -> None:
        state = apply_op("SerializeIterator", resource_handle=handle)
        super().__init__(handle, [SaveSpec(state, "", key)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Brings the iterator to the position; it must be initialized."""
        with colocate_with(self.op):
            return apply_op(
                "DeserializeIterator",
                resource_handle=self.op,
                serialized=restored_tensors[0],
            )


@export("data.experimental.make_saveable_from_iterator")
def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """What a saver saves of an iterator: how many elements it has given.

    Add it to the collection `tf.GraphKeys.SAVEABLE_OBJECTS` before the saver is made. A
    restored iterator must be initialized, and passes over the elements before its
    position; a pipeline that shuffles needs a seed to come to the same elements.
    """
    return saveable_of_handle(iterator._iterator_resource)


def saveable_of_handle(handle: Tensor) -> SaveableObject:
    """What a saver saves of the iterator of a handle."""
    return _IteratorSaveable(handle, f"{handle.name}-state", handle.name)


@export("data.Iterator")
class Iterator(Trackable):
    """An iterator over the elements of a dataset.

    Args:
      iterator_resource: its handle.
      initializer: the operation that begins at the first element, or None.
      output_types, output_shapes, output_classes: the structure of an element.
    """

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any,
    ) -> None:
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "All of output_types, output_shapes and output_classes must be given."
            )
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._element_spec = specs.legacy_structure(
            output_types, output_shapes, output_classes
        )
        self._string_handle = apply_op(
            "IteratorToStringHandle", resource_handle=iterator_resource
        )
        add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator that datasets of that structure can initialize.

        Raises:
          TypeError: the structures of types, shapes and classes differ.
        """
        types, shapes, classes = _structures(
            output_types, output_shapes, output_classes
        )
        structure = specs.legacy_structure(types, shapes, classes)
        with on_cpu_by_default():
            resource = apply_op(
                "IteratorV2",
                container="",
                shared_name=shared_name or "",
                output_types=specs.flat_types(structure),
                output_shapes=specs.flat_shapes(structure),
            )
        return Iterator(resource, None, types, shapes, classes)

    @staticmethod
    def from_string_handle(
        string_handle: Any,
        output_types: Any,
        output_shapes: Any = None,
        output_classes: Any = None,
    ) -> Iterator:
        """The iterator that a string (of `string_handle()`) names at run time."""
        types, shapes, classes = _structures(
            output_types, output_shapes, output_classes
        )
        structure = specs.legacy_structure(types, shapes, classes)
        handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        with on_cpu_by_default():
            resource = apply_op(
                "IteratorFromStringHandleV2",
                string_handle=handle,
                output_types=specs.flat_types(structure),
                output_shapes=specs.flat_shapes(structure),
            )
        return Iterator(resource, None, types, shapes, classes)

    @property
    def initializer(self) -> Operation:
        """The operation that begins at the first element.

        Raises:
          ValueError: it has none; a dataset's `make_initializer` gives one.
        """
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that begins at the first element of a dataset.

        Raises:
          TypeError: its elements have another structure.
        """
        with name_scope(name, "make_initializer") as scope:
            for what, mine, theirs in (
                ("types", self.output_types, dataset.output_types),
                ("classes", self.output_classes, dataset.output_classes),
            ):
                nest.assert_same_structure(mine, theirs)
                if nest.flatten(mine) != nest.flatten(theirs):
                    raise TypeError(
                        f"Expected output {what} {mine!r} but got dataset with output "
                        f"{what} {theirs!r}."
                    )
            nest.assert_same_structure(self.output_shapes, dataset.output_shapes)
            for mine, theirs in zip(
                nest.flatten(self.output_shapes),
                nest.flatten(dataset.output_shapes),
                strict=True,
            ):
                if not theirs.is_compatible_with(mine):
                    raise TypeError(
                        "Expected output shapes compatible with "
                        f"{self.output_shapes!r} but got dataset with output shapes "
                        f"{dataset.output_shapes!r}."
                    )
            with colocate_with(self._iterator_resource):
                return apply_op(  # type: ignore[no-any-return]
                    "MakeIterator",
                    dataset=dataset._variant_tensor,
                    iterator=self._iterator_resource,
                    name=scope,
                )

    def get_next(self, name: str | None = None) -> Any:
        """The next element: tensors in the dataset's structure."""
        flat = apply_op(
            "IteratorGetNext",
            iterator=self._iterator_resource,
            output_types=specs.flat_types(self._element_spec),
            output_shapes=specs.flat_shapes(self._element_spec),
            name=name,
        )
        return specs.from_tensors(self._element_spec, flat)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Its position, for `tf.train.Checkpoint`."""

        def saveable(name: str) -> SaveableObject:
            return _IteratorSaveable(self._iterator_resource, f"{name}_STATE", name)

        return {"ITERATOR": saveable}

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string tensor that names this iterator."""
        if name is None:
            return self._string_handle  # type: ignore[no-any-return]
        return apply_op(  # type: ignore[no-any-return]
            "IteratorToStringHandle",
            resource_handle=self._iterator_resource,
            name=name,
        )

    @property
    def output_classes(self) -> Any:
        """The class of each component."""
        return nest.map_structure(lambda s: s.legacy_classes, self._element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shape of each component."""
        return nest.map_structure(lambda s: s.legacy_shapes, self._element_spec)

    @property
    def output_types(self) -> Any:
        """The dtype of each component."""
        return nest.map_structure(lambda s: s.legacy_types, self._element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of each component."""
        return self._element_spec


class FunctionIterator(Iterator):
    """What `iter(dataset)` is in a function: it begins anew in each call.

    `next(iterator)` is the next element; after the last one it fails when the graph
    runs. AutoGraph makes a loop of the graph of a `for` over it.
    """

    def __init__(self, dataset: Any) -> None:
        spec = dataset.element_spec
        with on_cpu_by_default():
            handle, self._deleter = apply_op(
                "AnonymousIteratorV2",
                output_types=specs.flat_types(spec),
                output_shapes=specs.flat_shapes(spec),
            )
            apply_op("MakeIterator", dataset=dataset._variant_tensor, iterator=handle)
        self._iterator_resource = handle
        self._initializer = None
        self._element_spec = spec

    def __iter__(self) -> FunctionIterator:
        return self

    def __next__(self) -> Any:
        return self.get_next()


def _structures(types: Any, shapes: Any, classes: Any) -> tuple[Any, Any, Any]:
    """Types, shapes and classes with their defaults: unknown shapes, dense tensors."""
    types = nest.map_structure(
        lambda t: t if isinstance(t, TypeSpec) else dtypes.as_dtype(t), types
    )
    if shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), types)
    else:
        shapes = nest.map_structure_up_to(types, TensorShape, shapes)
    if classes is None:
        classes = nest.map_structure(
            lambda t: t if isinstance(t, TypeSpec) else Tensor, types
        )
    nest.assert_same_structure(types, shapes)
    return types, shapes, classes
