"""Objects in arrays: never taken apart, whatever they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.framework.types.object_arrays import as_object_array, object_scalar


@pytest.mark.parametrize("value", [b"a\0", [1, 2], (), np.ones(3), {"a": 1}, None])
def test_an_object_stays_whole(value: Any) -> None:
    array = object_scalar(value)
    assert (array.shape, array.dtype) == ((), np.dtype(object))
    assert array[()] is value


def test_arrays_are_arrays_already() -> None:
    strings = np.array([b"a", b"b"], object)
    assert as_object_array(strings) is strings
    assert as_object_array(b"a")[()] == b"a"
