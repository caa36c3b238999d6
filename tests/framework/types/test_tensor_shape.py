"""TensorShape and Dimension, as recorded from TensorFlow 1.15, and their algebra."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework.types import tensor_shape
from tensorloom.framework.types.dtypes import float32
from tensorloom.framework.types.tensor_shape import (
    SCALAR,
    UNKNOWN,
    Dimension,
    TensorShape,
    as_shape,
    unknown_shape,
)
from tests.framework import recorded


class _Names:
    """The public names that recorded expressions use."""

    float32 = float32
    dimension_value = staticmethod(tensor_shape.dimension_value)
    dimension_at_index = staticmethod(tensor_shape.dimension_at_index)


NAMES: dict[str, Any] = {"T": TensorShape, "D": Dimension, "tf": _Names, "np": np}

sizes = st.one_of(st.none(), st.integers(0, 4))
shapes = st.one_of(
    st.just(UNKNOWN), st.lists(sizes, max_size=4).map(lambda d: TensorShape(d))
)


@pytest.mark.parametrize(("expression", "expected"), recorded.read("tensor_shape"))
def test_is_as_recorded(expression: str, expected: str) -> None:
    assert recorded.outcome(expression, NAMES) == expected


def test_of_wraps_a_tuple() -> None:
    dims = (2, None)
    shape = TensorShape.of(dims)
    assert shape.dims_tuple is dims
    assert shape.as_list() == [2, None]
    assert SCALAR.dims_tuple == ()
    assert UNKNOWN.dims_tuple is None
    assert UNKNOWN.rank is None


def test_dims_is_a_list_of_its_own() -> None:
    shape = TensorShape([1, 2])
    assert shape.dims is not None
    shape.dims.append(Dimension(3))
    assert shape.rank == 2


def test_a_shape_of_unknown_sizes_equals_only_itself() -> None:
    shape = TensorShape([None, 2])
    assert shape == shape
    # Two unknown sizes are not known to be equal.
    assert shape != TensorShape([None, 2])


def test_equal_shapes_hash_alike() -> None:
    assert hash(TensorShape([1, 2])) == hash(TensorShape((1, 2)))
    assert hash(Dimension(3)) == hash(3)


@pytest.mark.parametrize("shape", [UNKNOWN, SCALAR, TensorShape([1, None])], ids=repr)
def test_pickles_and_copies(shape: TensorShape) -> None:
    for twin in (pickle.loads(pickle.dumps(shape)), copy.deepcopy(shape)):
        assert twin.dims_tuple == shape.dims_tuple


@pytest.mark.parametrize("shape", [UNKNOWN, SCALAR, TensorShape([0, None])], ids=repr)
def test_message_and_back(shape: TensorShape) -> None:
    assert TensorShape(shape.as_proto()).dims_tuple == shape.dims_tuple


def test_a_message_with_a_size_below_minus_one_is_refused() -> None:
    proto = TensorShape([1]).as_proto()
    proto.dim[0].size = -2
    with pytest.raises(ValueError, match="must be >= 0"):
        TensorShape(proto)


def test_helpers() -> None:
    assert as_shape(SCALAR) is SCALAR
    assert tensor_shape.scalar() is SCALAR
    assert tensor_shape.vector(None).as_list() == [None]
    assert tensor_shape.matrix(2, None).as_list() == [2, None]
    assert unknown_shape() is UNKNOWN
    assert unknown_shape(ndims=2).as_list() == [None, None]
    with pytest.raises(TypeError, match="Unknown argument"):
        unknown_shape(rank_=2)


def test_numpy_takes_a_shape() -> None:
    assert np.zeros(TensorShape([2, 3])).shape == (2, 3)  # type: ignore[call-overload]


@given(shapes, shapes)
def test_merging_is_symmetric_and_stays_compatible(
    a: TensorShape, b: TensorShape
) -> None:
    assert a.is_compatible_with(b) == b.is_compatible_with(a)
    if not a.is_compatible_with(b):
        with pytest.raises(ValueError, match="not compatible"):
            a.merge_with(b)
        return
    merged = a.merge_with(b)
    assert merged.dims_tuple == b.merge_with(a).dims_tuple
    assert merged.is_compatible_with(a)
    assert merged.is_compatible_with(b)


@given(shapes, shapes)
def test_the_most_specific_shape_covers_both(a: TensorShape, b: TensorShape) -> None:
    common = a.most_specific_compatible_shape(b)
    assert common.is_compatible_with(a)
    assert common.is_compatible_with(b)


@given(shapes, shapes)
def test_concatenation_adds_ranks(a: TensorShape, b: TensorShape) -> None:
    joined = a + b
    if a.rank is None or b.rank is None:
        assert joined.rank is None
    else:
        assert joined.rank == a.rank + b.rank


@given(shapes)
def test_number_of_elements_is_known_for_defined_shapes(shape: TensorShape) -> None:
    assert (shape.num_elements() is not None) == shape.is_fully_defined()
