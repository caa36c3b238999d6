"""Python's builtin functions, of tensors too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.autograph.language import UNSPECIFIED
from tensorloom.autograph.operators.data_structures import list_length
from tensorloom.autograph.operators.kinds import is_tensor_list
from tensorloom.client.control_flow.cond import cond
from tensorloom.data.dataset import Dataset
from tensorloom.data.dataset_classes import is_dataset
from tensorloom.framework.graph.tensor import Tensor, is_tensor
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.shape import rank, shape
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import cast as cast_ops
from tensorloom.ops.math import sequence
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.elementwise import abs as abs_op
from tensorloom.ops.strings.string_ops import as_string, string_join, string_to_number


def abs_(x: Any) -> Any:
    """`abs(x)`."""
    return abs_op(x) if is_tensor(x) else abs(x)


def float_(x: Any = 0) -> Any:
    """`float(x)`; float32 of a tensor."""
    return _number(x, dtypes.float32) if is_tensor(x) else float(x)


def int_(x: Any = 0, base: Any = UNSPECIFIED) -> Any:
    """`int(x, base)`; int32 of a tensor.

    Raises:
      NotImplementedError: a base other than ten, of a tensor.
    """
    if not is_tensor(x):
        return int(x) if base is UNSPECIFIED else int(x, base)
    if base is not UNSPECIFIED and base != 10:
        raise NotImplementedError(f"base {base} not supported for int")
    return _number(x, dtypes.int32)


def _number(x: Any, dtype: dtypes.DType) -> Any:
    if x.dtype == dtypes.string:
        return string_to_number(x, out_type=dtype)
    return cast_ops.cast(x, dtype)


def len_(s: Any) -> Any:
    """`len(s)`: an int where the size is known, else an int32 scalar.

    Raises:
      ValueError: a tensor without dimensions.
    """
    if isinstance(s, TensorArray):
        return s.size()
    if not is_tensor(s):
        return len(s)
    if is_tensor_list(s):
        return list_length(s)
    if s.shape.ndims and s.shape.dims[0].value is not None:
        return s.shape.dims[0].value
    sizes = shape(s)
    if s.shape.ndims == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {sizes}")
    if s.shape.ndims is not None:
        return sizes[0]
    dimensions = rank(s)

    def refuse() -> Tensor:
        told = string_join(["len requires non-zero rank, got ", as_string(dimensions)])
        with control_dependencies([Assert(False, [told])]):
            return constant(0, dtype=dtypes.int32)

    return cond(dimensions > 0, lambda: shape(s)[0], refuse)


def print_(*objects: Any, **kwargs: Any) -> Any:
    """`print(*objects)`; when the graph runs if there are tensors among them.

    Raises:
      ValueError: a keyword that `print` does not have.
    """
    unknown = tuple(set(kwargs) - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    if not any(map(is_tensor, objects)):
        return print(*objects, **kwargs)
    # What prints when the graph runs is seldom used, and loads much.
    from tensorloom.client.functions.py_function import py_function

    places = [i for i, value in enumerate(objects) if is_tensor(value)]
    options = {"flush": True, **kwargs}

    def print_values(*values: Any) -> int:
        shown = list(objects)
        for place, value in zip(places, values, strict=True):
            array = value.numpy()
            shown[place] = array.decode() if isinstance(array, bytes) else array
        print(*shown, **options)
        return 1

    return py_function(print_values, [objects[i] for i in places], dtypes.int32)


def range_(start_or_stop: Any, stop: Any = UNSPECIFIED, step: Any = UNSPECIFIED) -> Any:
    """`range(...)`; a tensor if one of its arguments is one."""
    given = [a for a in (start_or_stop, stop, step) if a is not UNSPECIFIED]
    if not any(map(is_tensor, given)):
        return range(*given)
    # As in Python a range that ends before it starts is empty.
    if step is not UNSPECIFIED:
        return sequence.range(start_or_stop, stop, step)
    if stop is not UNSPECIFIED:
        return sequence.range(start_or_stop, maximum(start_or_stop, stop))
    return sequence.range(maximum(start_or_stop, 0))


def enumerate_(s: Any, start: Any = 0) -> Any:
    """`enumerate(s, start)`, of datasets too."""
    if is_dataset(s):
        return s.enumerate(start)
    return enumerate(s, start)


def zip_(*iterables: Any) -> Any:
    """`zip(*iterables)`, of datasets too."""
    if iterables and all(map(is_dataset, iterables)):
        return Dataset.zip(tuple(iterables))
    return zip(*iterables, strict=False)


_OVERLOADS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    abs: abs_,
    float: float_,
    int: int_,
    len: len_,
    print: print_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
}


def overload_of(f: Any) -> Any:
    """What is called in place of a builtin: itself where tensors mean nothing to it."""
    try:
        return _OVERLOADS.get(f, f)
    except TypeError:  # a method of something that cannot be hashed
        return f
