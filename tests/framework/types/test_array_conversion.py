"""Python values to arrays, as recorded from TensorFlow 1.15 (through make_ndarray)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.array_conversion import is_array_like, to_ndarray
from tensorloom.framework.types.tensor_shape import Dimension, TensorShape
from tests.framework import recorded


class _Names:
    """The public names that recorded expressions use."""

    Dimension = Dimension
    TensorShape = TensorShape


for _name, _value in vars(dtypes).items():
    if isinstance(_value, dtypes.DType):
        setattr(_Names, _name, _value)


def _convert(*args: Any, **kwargs: Any) -> Any:
    return recorded.describe_array(to_ndarray(*args, **kwargs))


NAMES: dict[str, Any] = {"convert": _convert, "tf": _Names, "np": np}


@pytest.mark.parametrize(("expression", "expected"), recorded.read("array_conversion"))
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_is_as_recorded(expression: str, expected: str) -> None:
    expected = expected.replace("dtype('float128')", repr(np.dtype(np.longdouble)))
    names = {**NAMES, "np": _Numpy()}
    assert recorded.outcome(expression, names) == expected


class _Numpy:
    """NumPy with the name that platforms have for the widest float."""

    float128 = np.longdouble

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


# What differs from TensorFlow 1.15, or is worded by the Python or NumPy at hand.
@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (2**63, None, "uint64 () 9223372036854775808"),
        (-1, dtypes.uint64, "uint64 () 18446744073709551615"),
        (-1, dtypes.uint32, "uint32 () 4294967295"),
        (np.array([1, 2], ">i4"), None, "int32 (2,) [1, 2]"),
        (1, dtypes.bfloat16, "bfloat16 () 1.0"),
        (np.array([1.5]), dtypes.bfloat16, "bfloat16 (1,) [1.5]"),
        (1, dtypes.float32_ref, "float32 () 1.0"),
    ],
)
def test_converts(values: Any, dtype: dtypes.DType | None, expected: str) -> None:
    assert recorded.describe_array(to_ndarray(values, dtype)) == expected


@pytest.mark.parametrize(
    ("values", "dtype", "error", "message"),
    [
        ([[1, 2], [3]], dtypes.int32, ValueError, "array element with a sequence"),
        ([1, [2, 3]], dtypes.float32, ValueError, "array element with a sequence"),
        (object(), None, TypeError, "Failed to convert object of type"),
        ([object()], None, TypeError, "Failed to convert object of type"),
        (object(), dtypes.float32, TypeError, "of type 'object' instead"),
        ({"a": 1}, dtypes.int32, TypeError, "of type 'dict' instead"),
        ([np.float32(1)], dtypes.int32, TypeError, "of type 'float32' instead"),
        ([np.bool_(True)], dtypes.bool, TypeError, "Expected bool, got"),
        (Dimension(3), None, TypeError, "Failed to convert object of type"),
        (np.array(["a"]), dtypes.float32, ValueError, "could not convert"),
    ],
)
def test_refuses(
    values: Any, dtype: dtypes.DType | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        to_ndarray(values, dtype)


@pytest.mark.parametrize("shape", [3, TensorShape(None), TensorShape([None]), [None]])
def test_refuses_shapes_that_are_not_known(shape: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        to_ndarray(1, shape=shape)


@pytest.mark.parametrize(
    ("values", "shape"), [(1, None), ([1, 2], None), ("a", None), (1, [2]), ([1], [3])]
)
def test_the_result_is_read_only(values: Any, shape: Any) -> None:
    assert not to_ndarray(values, shape=shape).flags.writeable


def test_an_array_is_copied() -> None:
    source = np.zeros(3, np.float32)
    array = to_ndarray(source)
    source[0] = 1
    assert array[0] == 0


def test_one_value_in_a_large_shape_takes_no_memory() -> None:
    array = to_ndarray(0.5, shape=[10**6, 10**6])
    assert array.shape == (10**6, 10**6)
    assert array.strides == (0, 0)
    assert array[5, 7] == 0.5


def test_extreme_floats_do_not_warn() -> None:
    for value in (1e300, -1e300, float("inf"), float("nan")):
        for values in (value, [value], [1.0, value], [value, 1.0], [[value]]):
            assert to_ndarray(values).dtype == np.float32
            assert to_ndarray(values, dtypes.half).dtype == np.float16


class _HasArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array([1.0, 2.0])


class _HasInterface:
    __array_interface__ = np.array([1, 2]).__array_interface__


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.zeros(1), True),
        (np.float32(1), True),
        (_HasArray(), True),
        (bytearray(b"a"), True),
        (b"a", False),
        ("a", False),
        ([1], False),
        (None, False),
        (object(), False),
    ],
)
def test_is_array_like(value: Any, expected: bool) -> None:
    assert is_array_like(value) is expected


def test_objects_with_array_protocols_are_arrays() -> None:
    assert recorded.describe_array(to_ndarray(_HasArray())) == "float64 (2,) [1.0, 2.0]"
    array = to_ndarray(_HasArray(), dtypes.bfloat16)
    assert array.dtype == ml_dtypes.bfloat16
    assert is_array_like(_HasInterface())


numbers = st.one_of(
    st.booleans(), st.integers(-(2**70), 2**70), st.floats(width=64, allow_nan=False)
)
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=8)
dtype_choice = st.sampled_from(
    [None, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.bool]
)


@given(nested, dtype_choice)
def test_any_value_gives_an_array_or_a_python_error(
    values: Any, dtype: dtypes.DType | None
) -> None:
    try:
        array = to_ndarray(values, dtype)
    except (TypeError, ValueError, OverflowError):
        return
    if dtype is not None:
        assert array.dtype == dtype.np_dtype
    assert array.shape == np.array(values, dtype=object).shape or array.size == 0


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5))
def test_small_integers_survive(values: list[int]) -> None:
    for dtype in (None, dtypes.int32, dtypes.int64):
        assert to_ndarray(values, dtype).tolist() == values
