"""From the structure of `fetches` to tensors and targets, and back to results.

The structure is compiled once into a packer: a function from the values of the
distinct fetched tensors to what `Session.run` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.session.session_conversions import find_conversion
from tensorloom.framework.errors import InaccessibleTensorError
from tensorloom.framework.graph.graph import Graph, Operation, Tensor

# From the values of FetchPlan.tensors to the result.
Packer = Callable[[Sequence[Any]], Any]


class FetchPlan:
    """A compiled fetch structure.

    `tensors` and `targets` hold each tensor and operation once, in the order of their
    first occurrence.
    """

    __slots__ = ("pack", "targets", "tensors")

    def __init__(self, graph: Graph, fetches: Any) -> None:
        """Compiles `fetches`.

        Raises:
          TypeError: a leaf is of a type that cannot be fetched.
          ValueError: a leaf is not in the graph.
          errors.InaccessibleTensorError: a leaf must not be fetched.
        """
        builder = _Builder(graph)
        self.pack: Packer = builder.packer(fetches)
        self.tensors: list[Tensor] = list(builder.tensors)
        self.targets: list[Operation] = list(builder.targets)


class _Builder:
    """Collects the leaves of a structure while packers are made for its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.tensors: dict[Tensor, int] = {}  # with the place of their value
        self.targets: dict[Operation, None] = {}

    def packer(self, fetch: Any) -> Packer:
        """The packer of a structure or leaf."""
        if fetch is None:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}"
            )
        if isinstance(fetch, (Tensor, Operation, str)):
            return self._element(fetch)
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            return self._attrs(fetch)
        conversion = find_conversion(fetch)
        if conversion is None:
            return self._element(fetch)
        elements, contract = conversion.fetch(fetch)
        places = [self._place(element) for element in elements]
        return lambda values: contract([_at(values, p) for p in places])

    def _sequence(self, fetch: Sequence[Any]) -> Packer:
        parts = [self.packer(f) for f in fetch]
        kind = type(fetch)
        if issubclass(kind, list):
            return lambda values: [part(values) for part in parts]
        if kind is tuple:
            return lambda values: tuple([part(values) for part in parts])
        return lambda values: kind(*[part(values) for part in parts])

    def _mapping(self, fetch: Mapping[Any, Any]) -> Packer:
        kind: Any = type(fetch)
        parts = [(key, self.packer(f)) for key, f in fetch.items()]

        def pack(values: Sequence[Any]) -> Any:
            result = kind()
            for key, part in parts:
                result[key] = part(values)
            return result

        return pack

    def _attrs(self, fetch: Any) -> Packer:
        kind: Any = type(fetch)
        names = [field.name for field in kind.__attrs_attrs__]
        parts = [self.packer(getattr(fetch, name)) for name in names]
        return lambda values: kind(*[part(values) for part in parts])

    def _element(self, fetch: Any) -> Packer:
        place = self._place(fetch)
        return _nothing if place is None else itemgetter(place)

    def _place(self, fetch: Any) -> int | None:
        """Where the value of a leaf will be; None for an operation."""
        element = self._graph_element(fetch)
        if not self.graph.is_fetchable(element):
            op = element if isinstance(element, Operation) else element.op
            raise InaccessibleTensorError(
                f"Operation {op.name!r} has been marked as not fetchable. Typically "
                "this happens when it is defined in another function or code block. "
                "Use return values, explicit Python locals or TensorFlow collections "
                "to access it."
            )
        if isinstance(element, Operation):
            self.targets[element] = None
            return None
        return self.tensors.setdefault(element, len(self.tensors))

    def _graph_element(self, fetch: Any) -> Any:
        if isinstance(fetch, (Tensor, Operation)) and fetch.graph is self.graph:
            return fetch
        try:
            with self.graph.as_default():
                return self.graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be "
                f"a string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            _check_not_inside(fetch)
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None


def _check_not_inside(fetch: Any) -> None:
    graph = getattr(fetch, "graph", None)
    if isinstance(graph, FuncGraph):
        raise InaccessibleTensorError(
            f"{fetch!r} cannot be fetched: it is in {graph.name!r}, the body of a "
            "loop, a branch or a function, and has a value only while that runs. "
            "Return it from the body, and fetch what the loop or the call returns."
        )


def _nothing(values: Sequence[Any]) -> None:
    """What an operation gives as its result."""


def _at(values: Sequence[Any], place: int | None) -> Any:
    return None if place is None else values[place]
