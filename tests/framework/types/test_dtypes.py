"""DType: facts, conversions and comparisons, as recorded from TensorFlow 1.15."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import DType, as_dtype
from tests.framework import recorded

FLAGS = (
    *("is_floating", "is_integer", "is_complex", "is_bool", "is_quantized"),
    *("is_unsigned", "is_numpy_compatible", "_is_ref_dtype"),
)
ALL = [as_dtype(n) for n in (*range(1, 24), *range(101, 124))]


def facts(t: DType) -> tuple[Any, ...]:
    size = t.size if t.is_numpy_compatible else 1
    names = (t.name, t.base_dtype.name, t._as_ref.name, t.real_dtype.name)
    flags = tuple(getattr(t, flag) for flag in FLAGS)
    if not t.is_numpy_compatible or t.base_dtype is dtypes.bfloat16:
        return (*names, size, *flags)
    return (*names, size, *flags, np.dtype(t.as_numpy_dtype).str)


@pytest.mark.parametrize(("expression", "expected"), recorded.read("dtypes"))
def test_is_as_recorded(expression: str, expected: str) -> None:
    names = {"as_dtype": as_dtype, "DType": DType, "np": np, "facts": facts}
    assert recorded.outcome(expression, names) == expected


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_there_is_one_object_for_a_number(dtype: DType) -> None:
    assert DType(dtype.as_datatype_enum) is dtype
    assert as_dtype(dtype) is dtype
    assert as_dtype(dtype.name) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype


@pytest.mark.parametrize(
    "dtype", [d for d in ALL if d.is_numpy_compatible and not d._is_ref_dtype], ids=str
)
def test_numpy_and_back_is_the_identity(dtype: DType) -> None:
    assert as_dtype(dtype.as_numpy_dtype) is dtype
    assert as_dtype(dtype.np_dtype) is dtype
    assert as_dtype(np.zeros(1, dtype.as_numpy_dtype).dtype) is dtype


def test_bfloat16_is_the_type_of_ml_dtypes() -> None:
    assert dtypes.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16


@pytest.mark.parametrize("dtype", [dtypes.resource, dtypes.variant_ref])
def test_handles_have_no_numpy_type(dtype: DType) -> None:
    with pytest.raises(TypeError, match="no NumPy counterpart"):
        _ = dtype.as_numpy_dtype


def test_facts_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        dtypes.float32.size = 8


def test_every_dtype_has_a_module_constant() -> None:
    constants = [v for v in vars(dtypes).values() if isinstance(v, DType)]
    assert set(constants) == set(ALL)
    assert dtypes.half is dtypes.float16
    assert dtypes.double_ref is dtypes.float64_ref


def test_quantized_types() -> None:
    names = {dtype.name for dtype in dtypes.QUANTIZED_DTYPES}
    bases = {"qint8", "quint8", "qint16", "quint16", "qint32"}
    assert names == bases | {name + "_ref" for name in bases}
