"""`Dataset.from_generator`: elements of Python generators."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.data import nest, specs
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.transformations import from_tensors, make
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.framework.types.tensor_conversion import convert_n_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.control_flow import script as script_ops

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset


class _Passes:
    """The generators under way, by a number of each pass."""

    def __init__(self, generator: Callable[..., Any]) -> None:
        self._generator = generator
        self._numbers = itertools.count()
        self._arguments: dict[int, tuple[Any, ...]] = {}
        self._iterators: dict[int, Iterator[Any]] = {}
        self._lock = threading.Lock()

    def begin(self, *arguments: Any) -> Any:
        """A new pass."""
        with self._lock:
            number = next(self._numbers)
            self._arguments[number] = arguments
        return np.int64(number)

    def iterator(self, number: int) -> Iterator[Any]:
        """The generator of a pass, called when it is first needed."""
        found = self._iterators.get(number)
        if found is None:
            found = iter(self._generator(*self._arguments.pop(number)))
            self._iterators[number] = found
        return found

    def finish(self, number: Any) -> Any:
        """Forgets a pass."""
        self._iterators.pop(int(number), None)
        self._arguments.pop(int(number), None)
        return np.int64(0)


def from_generator(
    generator: Callable[..., Any],
    output_types: Any,
    output_shapes: Any = None,
    args: Any = None,
) -> Dataset:
    """A dataset of what a generator yields; see `Dataset.from_generator`.

    Raises:
      TypeError: `generator` cannot be called.
    """
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    if output_shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), output_types)
    else:
        shapes = nest.map_structure_up_to(output_types, TensorShape, output_shapes)
    arguments = () if args is None else tuple(convert_n_to_tensor(args, name="args"))
    passes = _Passes(generator)
    convert = _Conversion(output_types, shapes)

    def begin(dummy: Any) -> Any:
        number = script_ops.numpy_function(passes.begin, arguments, dtypes.int64)
        # Each element is asked for with it: a scalar stays in host memory.
        number.set_shape(())
        return number

    def step(number: Any) -> Any:
        def next_values(number: Any) -> Any:
            return convert(next(passes.iterator(int(number))))

        flat = script_ops.numpy_function(next_values, [number], convert.types)
        for value, shape in zip(flat, convert.shapes, strict=True):
            value.set_shape(shape)
        return nest.pack_sequence_as(output_types, flat)

    def finish(number: Any) -> Any:
        return script_ops.numpy_function(passes.finish, [number], dtypes.int64)

    return from_tensors(0).flat_map(
        lambda dummy: generator_dataset(dummy, begin, step, finish)
    )


class _Conversion:
    """From what a generator yields to arrays of the promised dtypes and shapes."""

    def __init__(self, output_types: Any, output_shapes: Any) -> None:
        self._structure = output_types
        self._is_single = not nest.is_nested(output_types)
        self.types = [dtypes.as_dtype(t) for t in nest.flatten(output_types)]
        self.shapes = nest.flatten(output_shapes)
        self._numpy_types = [np.dtype(t.as_numpy_dtype) for t in self.types]
        self._dims = [shape.dims_tuple for shape in self.shapes]

    def __call__(self, value: Any) -> list[Any]:
        if self._is_single:
            return [self._array(value, 0)]
        try:
            flat = nest.flatten_up_to(self._structure, value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                "`generator` yielded an element that did not match the expected "
                f"structure. The expected structure was {self._structure}, but the "
                f"yielded element was {value}."
            ) from error
        return [self._array(part, index) for index, part in enumerate(flat)]

    def _array(self, value: Any, index: int) -> Any:
        wanted = self._numpy_types[index]
        try:
            array = _as_array(value, wanted)
        except (TypeError, ValueError) as error:
            raise TypeError(
                "`generator` yielded an element that could not be converted to the "
                f"expected type. The expected type was {self.types[index].name}, but "
                f"the yielded element was {value}."
            ) from error
        if array.dtype != wanted:
            raise TypeError(
                f"`generator` yielded an element of type {array.dtype} where an "
                f"element of type {wanted} was expected."
            )
        dims = self._dims[index]
        if dims is not None and (
            len(dims) != array.ndim
            or any(
                d is not None and d != n for d, n in zip(dims, array.shape, strict=True)
            )
        ):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an "
                f"element of shape {self.shapes[index]} was expected."
            )
        return array


def _as_array(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind != "O":
        if isinstance(value, (np.ndarray, np.generic)):
            return np.asarray(value)
        return np.asarray(value, dtype=dtype)
    if isinstance(value, (bytes, str)):
        return object_scalar(value.encode() if isinstance(value, str) else value)
    array = np.asarray(value)
    if array.dtype.kind not in "USO":
        return array
    flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    if not all(isinstance(v, bytes) for v in flat):
        raise TypeError("not a string")
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)


def generator_dataset(
    state: Any,
    begin: Callable[..., Any],
    step: Callable[..., Any],
    finish: Callable[..., Any],
) -> Dataset:
    """What a function makes of a state, again and again.

    Args:
      state: what `begin` is called with, once for each pass.
      begin: gives the first argument of `step` and `finish`.
      step: gives an element; ends the pass by OutOfRangeError.
      finish: called at the end.
    """
    name = "Dataset.from_generator()"
    structure = specs.structure_of_value(state)
    first = StructuredFunction(begin, name, structure)
    following = StructuredFunction(step, name, first.output_structure)
    last = StructuredFunction(finish, name, first.output_structure)
    return make(
        "GeneratorDataset",
        following.output_structure,
        [],
        init_func_other_args=specs.to_tensors(structure, state) + first.captured,
        next_func_other_args=following.captured,
        finalize_func_other_args=last.captured,
        init_func=first.attr,
        next_func=following.attr,
        finalize_func=last.attr,
    )
