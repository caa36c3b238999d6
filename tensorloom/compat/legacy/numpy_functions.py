"""NumPy's functions as they were: ragged arrays, and small ones that were dropped."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import GeneratorType
from typing import Any, Final

import numpy as np

from tensorloom.compat.legacy.notices import tell

NINF: Final = -np.inf
NZERO: Final = -0.0
PZERO: Final = 0.0
# Types by kind, the smaller first.
sctypes: Final[dict[str, list[Any]]] = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}


def array(object: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`numpy.array`; rows of different lengths make an array of objects.

    `copy=False` copies where it must, as it did.
    """
    kwargs.update(zip(("copy", "order", "subok", "ndmin"), args, strict=False))
    if "copy" in kwargs and kwargs["copy"] is not None and not kwargs["copy"]:
        tell("numpy.array(copy=False) (refuses to copy since NumPy 2.0)", "np.asarray")
        kwargs["copy"] = None
    try:
        return np.array(object, dtype, **kwargs)
    except ValueError as error:
        return _ragged(object, dtype, error)
    except OverflowError:
        return _wrapped(object, dtype)


def asarray(a: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`numpy.asarray`; rows of different lengths make an array of objects."""
    try:
        return np.asarray(a, dtype, *args, **kwargs)
    except ValueError as error:
        return _ragged(a, dtype, error)


def asanyarray(a: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`numpy.asanyarray`; rows of different lengths make an array of objects."""
    try:
        return np.asanyarray(a, dtype, *args, **kwargs)
    except ValueError as error:
        return _ragged(a, dtype, error)


def _wrapped(value: Any, dtype: Any) -> Any:
    """Python's integers cut to a type that is too small for them, as until NumPy 2."""
    whole = np.array(value)
    if whole.dtype.kind not in "iu" or np.dtype(dtype).kind not in "iu":
        raise OverflowError(f"Python integers out of bounds for {np.dtype(dtype)}")
    tell(
        "numpy.array of integers too large for its dtype (refused since NumPy 2.0)",
        "np.array(x).astype(dtype)",
    )
    return whole.astype(dtype)


def _ragged(value: Any, dtype: Any, error: ValueError) -> Any:
    """The array of objects that NumPy made until 1.23."""
    if "inhomogeneous" not in str(error) and "broadcast" not in str(error):
        raise error
    if dtype is not None and np.dtype(dtype) != np.dtype(object):
        raise error
    shape = _common_shape(value)
    if not shape:
        raise error
    made = np.empty(shape, object)
    for index in np.ndindex(*shape):
        item = value
        for position in index:
            item = item[position]
        made[index] = item
    tell(
        "numpy.array of rows of different lengths (gone since NumPy 1.24)",
        "an array of objects, as with dtype=object",
    )
    return made


def _common_shape(value: Any) -> tuple[int, ...]:
    """How far down all items are sequences of one length."""
    shape: list[int] = []
    level = [value]
    while level and all(_is_sequence(item) for item in level):
        lengths = {len(item) for item in level}
        if len(lengths) > 1:
            break
        shape.append(lengths.pop())
        level = [inner for item in level for inner in item]
    return tuple(shape)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray) and value.ndim > 0
    )


def reshape(
    a: Any,
    shape: Any = None,
    order: str = "C",
    *,
    newshape: Any = None,
    **kwargs: Any,
) -> Any:
    """`numpy.reshape`, with its shape also under the name `newshape`."""
    if newshape is not None:
        tell("numpy.reshape(newshape=) (gone since NumPy 2.4)", "shape=")
        shape = newshape
    return np.reshape(a, shape, order, **kwargs)  # type: ignore[call-overload]


def fromstring(
    string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **kwargs: Any
) -> Any:
    """`numpy.fromstring`, of bytes too, which `sep=""` means."""
    if sep:
        return np.fromstring(string, dtype, count, sep=sep, **kwargs)
    tell("numpy.fromstring of bytes (gone since NumPy 2.3)", "np.frombuffer")
    data = string.encode() if isinstance(string, str) else bytes(string)
    if not data:
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, count).copy()


def _of_any_iterable(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def stacked(tup: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(tup, "__getitem__"):
            tell(f"numpy.{name} of a generator (gone since NumPy 1.24)", "of a list")
            tup = list(tup)
        return function(tup, *args, **kwargs)

    stacked.__name__ = name
    stacked.__doc__ = f"`numpy.{name}`, of what a generator or `map` gives too."
    return stacked


column_stack: Final = _of_any_iterable("column_stack")
dstack: Final = _of_any_iterable("dstack")
hstack: Final = _of_any_iterable("hstack")
stack: Final = _of_any_iterable("stack")
vstack: Final = _of_any_iterable("vstack")


def sum(a: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.sum`; what a generator gives is added up by Python."""
    if isinstance(a, GeneratorType):
        tell("numpy.sum of a generator (gone since NumPy 2.4)", "Python's sum")
        return builtins.sum(a)
    return np.sum(a, *args, **kwargs)


def _with_interpolation(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def quantiles(*args: Any, interpolation: Any = None, **kwargs: Any) -> Any:
        if interpolation is not None:
            tell(f"numpy.{name}(interpolation=) (gone since NumPy 2.4)", "method=")
            kwargs["method"] = interpolation
        return function(*args, **kwargs)

    quantiles.__name__ = name
    quantiles.__doc__ = f"`numpy.{name}`, with `method` also as `interpolation`."
    return quantiles


percentile: Final = _with_interpolation("percentile")
quantile: Final = _with_interpolation("quantile")
nanpercentile: Final = _with_interpolation("nanpercentile")
nanquantile: Final = _with_interpolation("nanquantile")


def ndim(a: Any) -> int:
    """`numpy.ndim`, of rows of different lengths too."""
    return int(a.ndim) if hasattr(a, "ndim") else int(asarray(a).ndim)


def shape(a: Any) -> tuple[int, ...]:
    """`numpy.shape`, of rows of different lengths too."""
    found: tuple[int, ...] = a.shape if hasattr(a, "shape") else asarray(a).shape
    return found


def size(a: Any, axis: Any = None) -> Any:
    """`numpy.size`, of rows of different lengths too."""
    return np.size(a if hasattr(a, "size") else asarray(a), axis)


def asscalar(a: Any) -> Any:
    """The one element of an array as a Python number."""
    return a.item()


def alen(a: Any) -> int:
    """The length of the first dimension; 1 of a scalar."""
    return len(np.atleast_1d(a))


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """An array of a floating point type: float64 where the type asked for is none."""
    if not np.issubdtype(dtype, np.inexact):
        dtype = np.float64
    return np.asarray(a, dtype=dtype)


def msort(a: Any) -> Any:
    """A copy sorted along the first axis."""
    return np.sort(a, axis=0)


def find_common_type(array_types: Any, scalar_types: Any) -> Any:
    """The type of values of these; scalars count only if their kind is higher."""
    arrays = [np.dtype(known) for known in array_types]
    scalars = [np.dtype(known) for known in scalar_types]
    if not scalars:
        return np.result_type(*arrays)
    if not arrays:
        return np.result_type(*scalars)
    common, other = np.result_type(*arrays), np.result_type(*scalars)
    order = "buifc"
    higher = order.find(other.kind) > order.find(common.kind)
    return other if higher or other.kind not in order else common


class _Casts(dict[Any, Any]):
    """`numpy.cast[type](values)`."""

    def __missing__(self, key: Any) -> Any:
        dtype = np.dtype(key)
        return lambda values: np.asarray(values).astype(dtype)


cast: Final = _Casts()


def maximum_sctype(t: Any) -> Any:
    """The largest type of the same kind."""
    kinds = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
    kind = np.dtype(t).kind
    return sctypes[kinds[kind]][-1] if kind in kinds else np.dtype(t).type


def issctype(rep: Any) -> bool:
    """Whether it stands for a type of NumPy's scalars."""
    return obj2sctype(rep) not in (None, np.object_)


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """The scalar type that an object stands for."""
    if isinstance(rep, np.ndarray):
        return rep.dtype.type
    try:
        return np.dtype(rep).type
    except TypeError:
        return default


def sctype2char(sctype: Any) -> str:
    """The letter of a scalar type."""
    return str(np.dtype(sctype).char)


def issubsctype(arg1: Any, arg2: Any) -> bool:
    """Whether one scalar type is a subclass of another."""
    return issubclass(obj2sctype(arg1), obj2sctype(arg2))


def recfromtxt(fname: Any, **kwargs: Any) -> Any:
    """`numpy.genfromtxt` as a record array."""
    kwargs.setdefault("dtype", None)
    return np.genfromtxt(fname, **kwargs).view(np.recarray)


def recfromcsv(fname: Any, **kwargs: Any) -> Any:
    """`recfromtxt` of a file of values with commas, the names in its first line."""
    settings = {"case_sensitive": "lower", "names": True, "delimiter": ","}
    return recfromtxt(fname, **{**settings, **kwargs})


def safe_eval(source: str) -> Any:
    """`ast.literal_eval`."""
    return ast.literal_eval(source)
