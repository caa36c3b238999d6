"""A tensor array as a resource of one step: NumPy values or torch tensors by index."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.array.stacking import stack_rows
from tensorloom.kernels.torch.lists.tensor_list import check_room
from tensorloom.kernels.torch.state.variable_value import (
    format_shape,
    is_host,
    shape_of,
    to_tensor,
)

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_ARRAYS: Final = {np.ndarray}
_HOST_TYPES: Final = (np.ndarray, np.generic)
_UNWRITTEN: Any = object()
_CLEARED: Any = object()


class TensorArrayResource(Resource):
    """Elements by index, with the rules of reading and writing once."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_shape: TensorShape,
        *,
        dynamic_size: bool,
        clear_after_read: bool,
        identical_element_shapes: bool,
        is_gradient: bool = False,
    ) -> None:
        super().__init__("", name)
        self.dtype = dtype
        self.element_shape = element_shape
        self._dims = element_shape.dims_tuple
        self.dynamic_size = dynamic_size
        self.clear_after_read = clear_after_read
        self.identical_element_shapes = identical_element_shapes
        self.is_gradient = is_gradient  # writes to one index add up
        self.closed = False
        check_room(size)
        self._elements: list[Any] = [_UNWRITTEN] * size
        self._gradients: dict[str, TensorArrayResource] = {}
        # By index: of elements that were cleared, in an array of gradients of what
        # was written there. Empty where the shape of all elements is known.
        self._shapes: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def value(self) -> TensorArrayResource:
        """What a reference to the handle of an old array is read as: the array."""
        return self

    def fail(self, text: str) -> errors.InvalidArgumentError:
        """An error that names the array."""
        return errors.InvalidArgumentError(
            None, None, f"TensorArray {self.name}: {text}"
        )

    # --- writing ---------------------------------------------------------------------

    def write(self, index: int, value: Any, dtype: DType) -> None:
        """Sets an element; adds to it in an array of gradients.

        Raises:
          errors.InvalidArgumentError: the index, dtype or shape does not fit, or the
            element was written before.
        """
        elements = self._elements
        if (
            0 <= index < len(elements)
            and elements[index] is _UNWRITTEN
            and dtype is self.dtype
            and value.shape == self._dims
        ):
            elements[index] = value
            return
        self._check_open()
        if dtype.base_dtype != self.dtype.base_dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write "
                f"dtype {dtype.name}.",
            )
        self._make_room(index)
        self._check_shape(index, shape_of(value))
        held = self._elements[index]
        if held is _CLEARED:
            raise self.fail(
                f"Could not write to TensorArray index {index} because it has already "
                "been read."
            )
        if held is _UNWRITTEN:
            if index in self._shapes:
                self._check_sum(index, shape_of(value), self._shapes[index])
            self._elements[index] = value
        elif self.is_gradient:
            self._check_sum(index, shape_of(value), shape_of(held))
            self._elements[index] = _sum(held, value)
        else:
            raise self.fail(
                f"Could not write to TensorArray index {index} because it has already "
                "been written to."
            )

    def _make_room(self, index: int) -> None:
        size = len(self._elements)
        if index < 0 or (index >= size and not self.dynamic_size):
            resizable = "" if self.dynamic_size else "not "
            raise self.fail(
                f"Tried to write to index {index} but array is {resizable}resizeable "
                f"and size is: {size}"
            )
        if index >= size:
            check_room(index + 1)
            self._elements.extend([_UNWRITTEN] * (index + 1 - size))

    def _check_shape(self, index: int, shape: tuple[int, ...]) -> None:
        if shape == self._dims:
            return
        found = TensorShape.of(shape)
        if not self.element_shape.is_compatible_with(found):
            raise self.fail(
                f"Could not write to TensorArray index {index} because the value shape "
                f"is {format_shape(shape)} which is incompatible with the "
                "TensorArray's inferred element shape: "
                f"{_format(self.element_shape)} (consider setting infer_shape=False)."
            )
        if self.identical_element_shapes:
            self.element_shape = found
            self._dims = found.dims_tuple

    def declare(self, shape: TensorShape) -> None:
        """Merges a shape that an op tells of all elements.

        Raises:
          errors.InvalidArgumentError: it contradicts what is known.
        """
        if not self.element_shape.is_compatible_with(shape):
            raise self.fail(
                f"Incompatible shapes during merge: {_format(self.element_shape)} vs. "
                f"{_format(shape)}"
            )
        self.element_shape = self.element_shape.merge_with(shape)
        self._dims = self.element_shape.dims_tuple

    def _check_sum(
        self, index: int, shape: tuple[int, ...], held: tuple[int, ...]
    ) -> None:
        if shape != held:
            raise self.fail(
                f"Could not aggregate to TensorArray index {index} because the "
                f"existing shape is {format_shape(held)} but the new input shape is "
                f"{format_shape(shape)}."
            )

    def _check_open(self) -> None:
        if self.closed:
            raise self.fail("has already been closed.")

    # --- reading ---------------------------------------------------------------------

    def read(self, index: int) -> Any:
        """The element; zeros for one that was never written, if the shape is known.

        Raises:
          errors.InvalidArgumentError: the index does not exist, or the element was
            read and cleared.
        """
        self._check_open()
        if not 0 <= index < len(self._elements):
            raise self.fail(
                f"Tried to read from index {index} but array size is: "
                f"{len(self._elements)}"
            )
        value = self._elements[index]
        if value is _CLEARED:
            raise self.fail(
                f"Could not read index {index} twice because it was cleared after a "
                "previous read (perhaps try setting clear_after_read = false?)."
            )
        if value is _UNWRITTEN:
            return self._zeros(index)
        if self.clear_after_read:
            self._clear(index)
        return value

    def _clear(self, index: int) -> None:
        if not self.element_shape.is_fully_defined():
            self._shapes[index] = shape_of(self._elements[index])
        self._elements[index] = _CLEARED

    def read_many(self, indices: list[int]) -> list[Any]:
        """Several elements; see `read`."""
        elements = self._elements
        if indices == list(range(len(elements))):
            values = elements  # what `stack` asks for
        elif (
            not indices
            or min(indices) < 0
            or max(indices) >= len(elements)
            or len(set(indices)) < len(indices)
        ):
            return [self.read(index) for index in indices]
        else:
            values = [elements[index] for index in indices]
        if object in set(map(type, values)):  # the marks of what cannot be read
            return [self.read(index) for index in indices]
        if self.clear_after_read:
            if not self.element_shape.is_fully_defined():
                self._shapes |= zip(indices, map(shape_of, values), strict=True)
            if values is elements:
                self._elements = [_CLEARED] * len(elements)
            else:
                for index in indices:
                    elements[index] = _CLEARED
        return values

    def _zeros(self, index: int) -> Any:
        dims: Any = self._shapes.get(index, self.element_shape.dims_tuple)
        if dims is None or None in dims:
            raise self.fail(
                f"Could not read from TensorArray index {index}.  Furthermore, the "
                f"element shape is not fully defined: {_format(self.element_shape)}.  "
                "It is possible you are working with a resizeable TensorArray and "
                "stop_gradients is not allowing the gradients to be written.  If you "
                "set the full element_shape property on the forward TensorArray, the "
                "proper all-zeros tensor will be returned instead of incurring this "
                "error."
            )
        if self.dtype.as_numpy_dtype is np.object_:
            return np.full(dims, b"", object)
        return np.zeros(dims, self.dtype.as_numpy_dtype)

    # --- gradients -------------------------------------------------------------------

    def gradient(self, source: str, prepend: tuple[int, ...] = ()) -> Any:
        """The array of gradients for one gradient computation, made on first use."""
        self._check_open()
        found = self._gradients.get(source)
        if found is None:
            # The gradient has the size of now, which must not change any more.
            self.dynamic_size = False
            shape = TensorShape.of(prepend).concatenate(self.element_shape)
            found = self._gradients[source] = TensorArrayResource(
                f"{self.name}@{source}",
                self.dtype,
                len(self._elements),
                shape,
                dynamic_size=False,
                clear_after_read=False,
                identical_element_shapes=self.identical_element_shapes,
                is_gradient=True,
            )
            if not self.element_shape.is_fully_defined():
                found._shapes = self._written_shapes(prepend)
        return found

    def in_iteration(self) -> TensorArrayResource:
        """The same elements, with other arrays of gradients."""
        self._check_open()
        same = copy.copy(self)
        same._gradients = {}
        return same

    def _written_shapes(self, prepend: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        shapes = {index: (*prepend, *shape) for index, shape in self._shapes.items()}
        for index, value in enumerate(self._elements):
            if value is not _UNWRITTEN and value is not _CLEARED:
                shapes[index] = (*prepend, *shape_of(value))
        return shapes

    def close(self) -> None:
        """Drops the elements."""
        self.closed = True
        self._elements = []


def _format(shape: TensorShape) -> str:
    dims = shape.dims_tuple
    if dims is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def _sum(held: Any, value: Any) -> Any:
    if is_host(held) and is_host(value):
        return held + value
    return to_tensor(held) + to_tensor(value)


#: Types whose scalars are Python objects by themselves.
OBJECT_TYPES: Final = frozenset([dtypes.variant, dtypes.resource])


def unboxed(element: Any) -> Any:
    """The object in an array of rank 0; other arrays as they are."""
    return element[()] if isinstance(element, np.ndarray) else element


def _are_host(values: list[Any]) -> bool:
    """Whether all are NumPy values; there are fewer types than values."""
    types = set(map(type, values))
    return types == _ARRAYS or all(issubclass(t, _HOST_TYPES) for t in types)


def stack_values(values: list[Any]) -> Any:
    """Values of either kind as one, along a new dimension 0."""
    if _are_host(values):
        return np.stack(values) if values[0].dtype == object else stack_rows(values)
    import torch

    return torch.stack([to_tensor(v) for v in values])


def concat_values(values: list[Any]) -> Any:
    """Values of either kind as one, along their dimension 0."""
    if _are_host(values):
        return np.concatenate(values)
    import torch

    return torch.cat([to_tensor(v) for v in values])
