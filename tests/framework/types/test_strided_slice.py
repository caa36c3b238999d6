"""What a strided slice means, against NumPy's indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework.types.strided_slice import SliceError, SliceMasks, resolve

_BOUND = st.none() | st.integers(-7, 7)
_SLICES = st.builds(slice, _BOUND, _BOUND, st.sampled_from([None, -3, -2, -1, 1, 2, 3]))


def _spec(index: tuple[Any, ...]) -> tuple[list[int], list[int], list[int], SliceMasks]:
    """A NumPy index as begin, end, strides and masks."""
    begin, end, strides = [], [], []
    masks = {"begin": 0, "end": 0, "ellipsis": 0, "new_axis": 0, "shrink_axis": 0}
    for i, item in enumerate(index):
        b, e, s = 0, 0, 1
        if item is Ellipsis:
            masks["ellipsis"] |= 1 << i
        elif item is None:
            masks["new_axis"] |= 1 << i
        elif isinstance(item, slice):
            masks["begin"] |= (item.start is None) << i
            masks["end"] |= (item.stop is None) << i
            b, e, s = item.start or 0, item.stop or 0, item.step or 1
        else:
            masks["shrink_axis"] |= 1 << i
            b, e = item, item + 1
        begin.append(b)
        end.append(e)
        strides.append(s)
    return begin, end, strides, SliceMasks(**masks)


@st.composite
def _indices(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    taken = draw(st.integers(0, len(shape)))
    items: list[Any] = []
    for size in shape[:taken]:
        items.append(draw(_SLICES | st.integers(-size, size - 1)))
        if draw(st.booleans()):
            items.append(None)
    if draw(st.booleans()):
        items.append(Ellipsis)
    return shape, tuple(items)


@given(_indices())
def test_as_numpy(case: tuple[tuple[int, ...], tuple[Any, ...]]) -> None:
    shape, index = case
    array = np.arange(np.prod(shape)).reshape(shape)
    resolved = resolve(shape, *_spec(index))
    expected = array[index]
    assert resolved.final_dims == expected.shape
    taken = array[resolved.index]
    assert taken.shape == resolved.processing_dims
    np.testing.assert_array_equal(taken.reshape(resolved.final_dims), expected)


@given(_indices())
def test_partly_known_shapes_agree(
    case: tuple[tuple[int, ...], tuple[Any, ...]],
) -> None:
    shape, index = case
    whole = resolve(shape, *_spec(index)).final_dims
    begin, end, strides, masks = _spec(index)
    dims = (None, *shape[1:])
    for known in (
        resolve(dims, begin, end, strides, masks).final_dims,
        resolve(shape, None, None, strides, masks).final_dims,
    ):
        assert len(known) == len(whole)
        assert all(a is None or a == b for a, b in zip(known, whole, strict=True))


@pytest.mark.parametrize(
    ("shape", "index", "message"),
    [
        ((3,), (5,), "slice index 5 of dimension 0 out of bounds."),
        ((3,), (-4,), "slice index -4 of dimension 0 out of bounds."),
        ((3,), (0, 0), "Index out of range using input dim 1; input has only 1 dims"),
        ((3,), (..., ...), "Multiple ellipses in slice spec not allowed"),
    ],
)
def test_errors(shape: tuple[int, ...], index: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SliceError) as error:
        resolve(shape, *_spec(index))
    assert str(error.value) == message


def test_stride_of_zero() -> None:
    with pytest.raises(SliceError, match="strides\\[0\\] must be non-zero"):
        resolve((3,), [0], [3], [0], SliceMasks())
