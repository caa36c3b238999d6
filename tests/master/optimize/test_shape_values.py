"""What follows from static shapes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize.simplify.shape_values import value_of_shapes

UNKNOWN_BATCH = TensorShape([None, 3])
MATRIX, HUGE = TensorShape([2, 3]), TensorShape([1 << 40, 2])


@pytest.mark.parametrize(
    ("op", "shapes", "dtype", "expected"),
    [
        ("Shape", [MATRIX], dtypes.int32, [[2, 3]]),
        ("Shape", [TensorShape([])], dtypes.int64, [[]]),
        ("Shape", [UNKNOWN_BATCH], dtypes.int32, None),
        ("Shape", [None], dtypes.int32, None),
        ("Shape", [HUGE], dtypes.int32, None),
        ("Shape", [HUGE], dtypes.int64, [[1 << 40, 2]]),
        ("ShapeN", [MATRIX, TensorShape([4])], dtypes.int32, [[2, 3], [4]]),
        ("ShapeN", [MATRIX, UNKNOWN_BATCH], dtypes.int32, None),
        ("Size", [MATRIX], dtypes.int32, [6]),
        ("Size", [HUGE], dtypes.int32, None),
        ("Size", [HUGE], dtypes.int64, [1 << 41]),
        ("Rank", [UNKNOWN_BATCH], dtypes.int32, [2]),
        ("Rank", [TensorShape(None)], dtypes.int32, None),
    ],
)
def test_values(op: str, shapes: Any, dtype: Any, expected: Any) -> None:
    outputs = (dtype,) * (len(shapes) if op == "ShapeN" else 1)
    node = Node("n", op, (), (), "", {}, outputs, ())
    found = value_of_shapes(node, shapes)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        for value, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(value, want)
            assert value.dtype == (np.int32 if op == "Rank" else dtype.np_dtype)
