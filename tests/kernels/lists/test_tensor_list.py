"""Lists of tensors: old lists stay as they were, and pushing is cheap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.lists.tensor_list import UNSET, TensorList


def _empty(shape: tuple[int | None, ...] | None = None, limit: int = -1) -> TensorList:
    return TensorList(dtypes.int32, shape, [], 0, limit)


def test_lists_of_one_origin_do_not_disturb_each_other() -> None:
    base = _empty().push(np.int32(1))
    left, right = base.push(np.int32(2)), base.push(np.int32(3))
    assert (base.elements(), left.elements(), right.elements()) == (
        *([1], [1, 2], [1, 3]),
    )
    shorter, element = left.pop()
    assert element == 2
    assert shorter.push(np.int32(9)).elements() == [1, 9]
    assert left.elements() == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 99))))
def test_any_history_of_pushes_and_pops(steps: list[tuple[int, int]]) -> None:
    """Each step goes on from an earlier list: pushes, or pops when it is odd."""
    lists = [(_empty(), [])]
    for origin, number in steps:
        before, wanted = lists[origin % len(lists)]
        if number % 2 and wanted:
            after, element = before.pop()
            assert element == wanted[-1]
            lists.append((after, wanted[:-1]))
        else:
            lists.append((before.push(np.int32(number)), [*wanted, number]))
    for made, wanted in lists:
        assert made.elements() == wanted


def test_what_is_pushed_fits_the_shape_not_what_was_pushed_before() -> None:
    one = _empty((None, 2)).push(np.zeros((3, 2), np.int32))
    both = one.push(np.zeros((3, 2), np.int32)).push(np.zeros((1, 2), np.int32))
    assert [e.shape for e in both.elements()] == [(3, 2), (3, 2), (1, 2)]
    for wrong in [(3, 1), (2,), ()]:
        for held in [one, both, both.pop()[0], both.set(0, np.ones((9, 2), np.int32))]:
            with pytest.raises(errors.InvalidArgumentError, match=r"\[\?,2\]"):
                held.push(np.zeros(wrong, np.int32))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 99))))
def test_any_history_of_changes(steps: list[tuple[int, int]]) -> None:
    """Each step goes on from an earlier list: sets, pushes, pops or resizes."""
    lists: list[tuple[TensorList, list[Any]]] = [(_empty(), [])]
    for origin, number in steps:
        before, wanted = lists[origin % len(lists)]
        value = np.int32(number)
        if number % 3 == 0 and wanted:
            index = number % len(wanted)
            after = before.set(index, value)
            lists.append((after, [*wanted[:index], value, *wanted[index + 1 :]]))
        elif number % 7 == 0:
            size = number % 5
            filled = [*wanted[:size], *[UNSET] * (size - len(wanted))]
            lists.append((before.resize(size), filled))
        elif number % 5 == 0 and wanted:
            lists.append((before.pop()[0], wanted[:-1]))
        else:
            lists.append((before.push(value), [*wanted, value]))
    for made, wanted in lists:
        assert made.elements() == wanted
        assert [made.at(i) for i in range(made.length)] == wanted


def test_checks() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="pop from an empty list"):
        _empty().pop()
    full = _empty(limit=1).push(np.int32(1))
    with pytest.raises(errors.InvalidArgumentError, match="full list"):
        full.push(np.int32(2))
    with pytest.raises(errors.InvalidArgumentError, match="incompatible shape"):
        _empty((2, None)).push(np.zeros([3, 1]))
    _empty((2, None)).push(np.zeros([2, 7]))
    with pytest.raises(errors.InvalidArgumentError, match="different lengths"):
        _empty().map(max, _empty().push(np.int32(1)))


@pytest.mark.parametrize("words", [["a", "bc"], [["a", "b"], ["c", ""]]])
def test_zeros_of_a_list_of_strings(words: Any) -> None:
    """A loop that collects strings has a gradient for the other variables."""
    shape = np.shape(words)[1:]
    with tf.Graph().as_default(), tf.Session() as session:
        words_list = tf.raw_ops.TensorListFromTensor(
            tensor=words, element_shape=np.array(shape, np.int32)
        )
        zeros = tf.raw_ops.TensorListStack(
            input_handle=tf.raw_ops.ZerosLike(x=words_list),
            element_shape=np.array(shape, np.int32),
            element_dtype=tf.string,
        )
        found = session.run(zeros)
    assert found.shape == np.shape(words)
    assert set(found.ravel()) == {b""}
