"""`data_flow_ops.StagingArea` and `MapStagingArea`: values kept from step to step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import get_default_graph, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import colocate_with
from tensorloom.framework.types import dtypes as types
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array.identity import identity

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


class BaseStagingArea:
    """What both staging areas share: elements of named or numbered components.

    Args:
      dtypes: of the components.
      shapes: of the components, or None.
      names: of the components, or None; with names, elements are dicts.
      shared_name: areas of this name in one container are one.
      capacity: the most elements; 0 sets no limit.
      memory_limit: the most bytes of all elements; 0 sets no limit.

    Raises:
      ValueError: the lists differ in length, or `shared_name` is no string.
    """

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._dtypes = dtypes
        self._shapes = [as_shape(shape) for shape in shapes or [None] * len(dtypes)]
        self._names = names
        self._capacity = capacity
        self._memory_limit = memory_limit
        # The elements live where this op is; puts and gets are placed with it.
        with name_scope(f"{self._name}_root"):
            self._coloc_op = apply_op("NoOp")

    @property
    def name(self) -> str:
        """The name of the staging area."""
        return self._name

    @property
    def dtypes(self) -> Sequence[Any]:
        """The dtypes of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of an element's components."""
        return self._shapes

    @property
    def names(self) -> Sequence[str] | None:
        """The names of an element's components, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """The most elements; 0 sets no limit."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The most bytes of all elements; 0 sets no limit."""
        return self._memory_limit

    def _apply(self, op: str, name: str, **inputs: Any) -> Any:
        """Adds an op on this area's elements."""
        return apply_op(
            op,
            shared_name=self._name,
            capacity=self._capacity,
            memory_limit=self._memory_limit,
            name=name,
            **inputs,
        )

    def _components(
        self, values: Any, indices: Sequence[int] | None
    ) -> tuple[list[Tensor], list[int]]:
        """The tensors of an element, or of a part of one, and which components.

        Raises:
          ValueError: they do not fit this area.
        """
        if isinstance(values, dict):
            values, indices = self._named_components(values)
        elif self._names:
            raise ValueError(
                "You must enqueue a dictionary in a staging area with names"
            )
        elif indices is None:
            raise ValueError(
                "Indices must be supplied when inserting a list of tensors"
            )
        if not isinstance(values, list | tuple):
            values, indices = [values], [0]
        if len(indices) != len(values):
            raise ValueError(
                f"Number of indices '{len(indices)}' doesn't match number of values "
                f"'{len(values)}'"
            )
        if len(values) > len(self._dtypes):
            raise ValueError(
                f"Unexpected number of inputs '{len(values)}' vs '{len(self._dtypes)}'"
            )
        tensors = [
            self._component(value, index)
            for value, index in zip(values, indices, strict=True)
        ]
        return tensors, list(indices)

    def _component(self, value: Any, index: int) -> Tensor:
        wanted = types.as_dtype(self._dtypes[index])
        found = getattr(value, "dtype", wanted)
        if found != wanted:
            raise ValueError(f"Datatypes do not match. '{found}' != '{wanted}'")
        tensor: Tensor = convert_to_tensor(
            value, dtype=wanted, name=f"component_{index}"
        )
        tensor.shape.assert_is_compatible_with(self._shapes[index])
        return tensor

    def _named_components(self, values: dict[str, Any]) -> tuple[list[Any], list[int]]:
        if not self._names:
            raise ValueError("Staging areas must have names to enqueue a dictionary")
        if not set(values) <= set(self._names):
            raise ValueError(
                "Keys in dictionary to put do not match names of staging area. "
                f"Dictionary: ({sorted(values)}), Queue: ({sorted(self._names)})"
            )
        indices = [i for i, name in enumerate(self._names) if name in values]
        return [values[self._names[i]] for i in indices], indices

    def _element(self, tensors: Any, indices: Iterable[int]) -> Any:
        """What a get returns: a list, or a dict if the components have names."""
        if not isinstance(tensors, tuple | list):
            tensors = [tensors]
        if apply_op("NoOp").device != self._coloc_op.device:
            # The copy to the reader's device is made here, once.
            tensors = [identity(tensor) for tensor in tensors]
        indices = list(indices)
        for tensor, index in zip(tensors, indices, strict=True):
            tensor.set_shape(self._shapes[index])
        if self._names:
            names = [self._names[index] for index in indices]
            return dict(zip(names, tensors, strict=True))
        return list(tensors)


class StagingArea(BaseStagingArea):
    """Keeps elements from step to step, first in, first out.

    A step that puts the next element and gets the one before overlaps its transfer
    with its computation. `get` and `peek` wait until there is an element, `put` until
    there is room.
    """

    def put(self, values: Any, name: str | None = None) -> Operation:
        """An operation that puts an element.

        Args:
          values: a tensor, a list of tensors, or a dict if components have names.
          name: of the operation.

        Raises:
          ValueError: they do not fit this area.
        """
        if not isinstance(values, list | tuple | dict):
            values = [values]
        given = list(values.values()) if isinstance(values, dict) else values
        with name_scope(name, f"{self._name}_put", given) as scope:
            tensors, _ = self._components(values, range(len(values)))
            with colocate_with(self._coloc_op):
                op: Operation = self._apply("Stage", scope, values=tensors)
        return op

    def get(self, name: str | None = None) -> Any:
        """Takes an element: a list of tensors, or a dict if components have names."""
        with colocate_with(self._coloc_op):
            taken = self._apply(
                "Unstage", name or f"{self._name}_get", dtypes=self._dtypes
            )
        return self._element(taken, range(len(self._dtypes)))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The element at an index, which stays; waits until there are as many."""
        with colocate_with(self._coloc_op):
            found = self._apply(
                "StagePeek",
                name or f"{self._name}_peek",
                index=index,
                dtypes=self._dtypes,
            )
        return self._element(found, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements there are, a scalar int32."""
        size: Tensor = self._apply(
            "StageSize", name or f"{self._name}_size", dtypes=self._dtypes
        )
        return size

    def clear(self, name: str | None = None) -> Operation:
        """An operation that drops all elements."""
        op: Operation = self._apply(
            "StageClear", name or f"{self._name}_clear", dtypes=self._dtypes
        )
        return op


class MapStagingArea(BaseStagingArea):
    """Keeps elements from step to step under int64 keys.

    An element may be put in parts; it can be taken once all its parts are there, in
    parts as well. Parts count for the memory limit, not for the capacity.

    Args:
      ordered: `get` without a key takes the smallest key, else any.
      dtypes, shapes, names, shared_name, capacity, memory_limit: see BaseStagingArea.
    """

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._kind = "OrderedMap" if ordered else "Map"

    def put(
        self,
        key: Any,
        vals: Any,
        indices: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that puts an element or a part of one.

        Args:
          key: a scalar int64.
          vals: a tensor, a list of tensors, or a dict if components have names.
          indices: which components a list has.
          name: of the operation.

        Raises:
          ValueError: they do not fit this area.
        """
        given = list(vals.values()) if isinstance(vals, dict) else vals
        given = given if isinstance(given, list | tuple) else [given]
        with name_scope(name, f"{self._name}_put", given) as scope:
            tensors, which = self._components(vals, indices)
            with colocate_with(self._coloc_op):
                op: Operation = self._apply(
                    f"{self._kind}Stage",
                    scope,
                    key=key,
                    indices=which,
                    values=tensors,
                    dtypes=self._dtypes,
                )
        return op

    def peek(
        self, key: Any, indices: Sequence[Any] | None = None, name: str | None = None
    ) -> Any:
        """The element of a key, or some of its components, which stay."""
        which, dtypes = self._chosen(indices)
        with colocate_with(self._coloc_op):
            found = self._apply(
                f"{self._kind}Peek",
                name or f"{self._name}_pop",
                key=key,
                indices=which,
                dtypes=dtypes,
            )
        return self._element(found, which)

    def get(
        self,
        key: Any = None,
        indices: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Takes the element of a key; without a key, any element.

        Args:
          key: a scalar int64, or None.
          indices: which components to take, by index or by name; None takes all.
          name: of the operation.

        Returns:
          The pair (key, element); an element is a list or a dict.

        Raises:
          TypeError, ValueError: `indices` do not fit this area.
        """
        which, dtypes = self._chosen(indices)
        if key is not None:
            with colocate_with(self._coloc_op):
                taken = self._apply(
                    f"{self._kind}Unstage",
                    name or f"{self._name}_get",
                    key=key,
                    indices=which,
                    dtypes=dtypes,
                )
            return key, self._element(taken, which)
        with colocate_with(self._coloc_op):
            key, taken = self._apply(
                f"{self._kind}UnstageNoKey",
                name or f"{self._name}_get_nokey",
                indices=which,
                dtypes=dtypes,
            )
        if apply_op("NoOp").device != self._coloc_op.device:
            key = identity(key)
        return key, self._element(taken, which)

    def size(self, name: str | None = None) -> Tensor:
        """How many complete elements there are, a scalar int32."""
        return self._count("Size", name or f"{self._name}_size")

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components, a scalar int32."""
        return self._count("IncompleteSize", name or f"{self._name}_incomplete_size")

    def clear(self, name: str | None = None) -> Operation:
        """An operation that drops all elements."""
        op: Operation = self._apply(
            f"{self._kind}Clear", name or f"{self._name}_clear", dtypes=self._dtypes
        )
        return op

    def _count(self, what: str, name: str) -> Tensor:
        size: Tensor = self._apply(f"{self._kind}{what}", name, dtypes=self._dtypes)
        return size

    def _chosen(self, indices: Sequence[Any] | None) -> tuple[list[int], list[Any]]:
        """The numbers of the components that are meant, and their dtypes."""
        if indices is None:
            return list(range(len(self._dtypes))), list(self._dtypes)
        if not isinstance(indices, tuple | list):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(index, str) for index in indices):
            which = [self._index_of(name) for name in indices]
        elif all(isinstance(index, int) for index in indices):
            which = list(indices)
        else:
            raise TypeError(
                f"Mixed types in indices '{indices}'. May only be str or int"
            )
        return which, [self._dtypes[index] for index in which]

    def _index_of(self, name: str) -> int:
        if self._names is None:
            raise ValueError(
                f"String index '{name}' provided, but this Staging Area was not "
                "created with names."
            )
        if name not in self._names:
            raise ValueError(f"Named index '{name}' not in {list(self._names)}")
        return list(self._names).index(name)
