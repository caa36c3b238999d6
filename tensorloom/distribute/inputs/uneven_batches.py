"""Elements for all replicas as long as there is one for any: empty ones for the others.

So the last batch need not have a part for each replica. A strategy does so if its
`extended.experimental_enable_get_next_as_optional` is true, for elements whose shapes
are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.data import specs
from tensorloom.framework.graph.graph import device
from tensorloom.framework.types import nest
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def gives_empty_elements(strategy: Any, iterators: list[Any]) -> bool:
    """Whether replicas without an element get an empty one."""
    if not getattr(
        strategy.extended, "experimental_enable_get_next_as_optional", False
    ):
        return False
    shapes = [
        shape
        for iterator in iterators
        for shape in nest.flatten(iterator.output_shapes)
    ]
    return not all(shape.is_fully_defined() for shape in shapes)


def elements_or_empty(workers: Any, iterators: list[Any]) -> list[Any]:
    """The next element of each replica, empty where there is none.

    Args:
      workers: who reads, and which devices are fed.
      iterators: that of each worker.

    Raises:
      OutOfRangeError: (when it runs) there is none for any replica.
    """
    found, elements = [], []
    for worker, iterator in zip(workers.worker_devices, iterators, strict=True):
        with device(worker):
            there, own = iterator.get_next_or_empty()
            found.append(there)
            elements.append(own)
    some = found[0] if len(found) == 1 else math_ops.reduce_any(array_ops.stack(found))
    return [
        element
        for number, iterator in enumerate(iterators)
        for element in _checked(
            some,
            workers.worker_devices[number],
            workers.compute_devices_for_worker(number),
            iterator,
            elements[number],
        )
    ]


def _checked(
    some: Any, worker: str, devices: Any, iterator: Any, elements: list[Any]
) -> Iterator[Any]:
    """The elements, if there are some; else what raises."""
    for name, element in zip(devices, elements, strict=True):
        shapes: list[Any] = []

        def following(name: str = name, shapes: list[Any] = shapes) -> Any:
            value = iterator.get_next(name)
            shapes.extend(tensor.shape for tensor in _flat(value))
            return value

        def given(element: Any = element) -> Any:
            return element

        with device(worker), device(name):
            value = either(some, given, following)
        for tensor, shape in zip(_flat(value), shapes, strict=True):
            tensor.set_shape(shape)
        yield value


def value_or_empty(optional: Any) -> tuple[Any, Any]:
    """Whether an optional has a value, and the value or an empty one."""
    there = optional.has_value()
    spec = optional.value_structure
    return there, either(there, optional.get_value, lambda: _empty(spec))


def either(there: Any, value: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """One of two structures of tensors."""
    made: list[Any] = []

    def flat(make: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            structure = make()
            made.append(structure)
            return _flat(structure)

        return run

    chosen = cond(there, flat(value), flat(other), strict=True)
    return nest.pack_sequence_as(made[0], chosen, expand_composites=True)


def _flat(structure: Any) -> list[Any]:
    return nest.flatten(structure, expand_composites=True)


def _empty(spec: Any) -> Any:
    """Zeros of no rows."""
    tensors = []
    for dtype, shape in zip(
        specs.flat_types(spec), specs.flat_shapes(spec), strict=True
    ):
        sizes = [0 if size is None else size for size in shape.as_list()]
        if sizes and shape.is_fully_defined():
            sizes[0] = 0
        tensors.append(array_ops.zeros(sizes, dtype))
    return specs.from_tensors(spec, tensors)
