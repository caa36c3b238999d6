"""Bodies of JSON, read by orjson where it is there, and their arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.serving.manager.signature import Slot
from tensorloom.serving.rest import json_values


@pytest.fixture(params=["orjson", "json"], autouse=True)
def reader(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "json":
        monkeypatch.setattr(json_values, "_quick_loads", None)
    else:
        pytest.importorskip("orjson")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, -0, 2.5, 1e3]}', [1, 0, 2.5, 1000.0]),
        (b'{"a": [18446744073709551615, -9223372036854775808]}', [2**64 - 1, -(2**63)]),
        (b'{"a": [0.1234567890123456789, 5e-324]}', [0.12345678901234568, 5e-324]),
        (b'{"a": [Infinity, -Infinity, 1e999]}', [math.inf, -math.inf, math.inf]),
        (b'{"a": {"b64": "AA=="}, "a": true}', True),
        (b'{"a": "\\ud800"}', "\ud800"),
        ('{"a": "é"}'.encode("utf-16"), "é"),
        (b'\xef\xbb\xbf{"a": null}', None),
    ],
)
def test_values(body: bytes, value: Any) -> None:
    found = json_values.parse(body)["a"]
    assert found == value
    assert type(found) is type(value)


def test_nan() -> None:
    assert math.isnan(json_values.parse(b'{"a": NaN}')["a"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "JSON Parse error: The document is empty"),
        (b'{"a": 01}', "JSON Parse error: Expecting ',' delimiter at offset: 7"),
        (b'{"a": [1', "JSON Parse error: Expecting ',' delimiter at offset: 8"),
        (b'{"a": "\xff"}', "JSON Parse error: 'utf-8' codec can't decode"),
        (b"[" * 100_000, "JSON Parse error: it is nested too deeply"),
        (b"[1]", "JSON Value: [1] Is not object"),
    ],
)
def test_mistakes(body: bytes, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        json_values.parse(body)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("[[0.5, 1.25], [-0.0, 3.0]]", dtypes.float32),
        ("[[0.5, 1], [-0.0, 3]]", dtypes.float32),
        ("[[[0.5], [0.25]], [[1e-3], [7.0]]]", dtypes.float16),
        ("[[[1.1]], [[2.2]]]", dtypes.bfloat16),
        ("[0.1, 1e300]", dtypes.float64),
        ("[0.1, 1e300]", dtypes.float32),
        ("[[], []]", dtypes.float32),
        ("[true, false]", dtypes.bool),
        ("[18446744073709551615, 0]", dtypes.uint64),
        ("2.5", dtypes.float32),
        ("[[1, 2], [3, 4]]", dtypes.int64),
    ],
)
def test_arrays(text: str, dtype: dtypes.DType) -> None:
    value = json_values.parse(f'{{"a": {text}}}'.encode())["a"]
    with np.errstate(over="ignore"):
        expected = np.array(value, dtype.np_dtype)
    found = json_values.to_array(value, Slot("x", "x:0", dtype, None))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.float64(found), np.float64(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[0.5, true]", "JSON Value: true Type: True is not of expected type: float"),
        ("[0.5, [true]]", "Encountered list"),
        ("[0.5, null]", "JSON Value: null Type: Null is not"),
        ('[0.5, "1"]', 'JSON Value: "1" Type: String is not'),
        ("[[0.5], [0.5, 1.0]]", "Encountered list at unexpected size: 2 at level: 1"),
        ("[[0.5], 0.5]", "found at incorrect level: 2"),
        ("[0.5, [0.5]]", "Encountered list at unexpected level: 1"),
        ("[[0.5], []]", "Encountered list at unexpected size: 0 at level: 1"),
    ],
)
def test_lists_that_are_no_arrays(text: str, message: str) -> None:
    value = json_values.parse(f'{{"a": {text}}}'.encode())["a"]
    with pytest.raises(errors.InvalidArgumentError) as caught:
        json_values.to_array(value, Slot("x", "x:0", dtypes.float32, None))
    assert message in caught.value.message
