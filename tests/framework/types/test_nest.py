"""Nested structures: flatten, pack, map, compare; expectations of TensorFlow 1.15."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.types import nest, nest_shallow

Point = namedtuple("Point", "a b")
SamePoint = namedtuple("Point", "a b")  # type: ignore[no-redef]
Other = namedtuple("Other", "c d")


class Attrs:
    """As the attrs library makes classes."""

    class _Field:
        def __init__(self, name: str) -> None:
            self.name = name

    __attrs_attrs__ = (_Field("z"), _Field("y"))

    def __init__(self, z: Any, y: Any) -> None:
        self.z, self.y = z, y


FLATTENED = [
    (1, [1]),
    ([1, 2], [1, 2]),
    ((1, (2, 3)), [1, 2, 3]),
    ({"b": 1, "a": 2}, [2, 1]),
    (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (Point(1, [2, 3]), [1, 2, 3]),
    ([Point(1, {"z": 1, "b": [3]})], [1, 3, 1]),
    (Attrs(1, (2,)), [1, 2]),
    ({}, []),
    ([], []),
    ("abc", ["abc"]),
    (b"abc", [b"abc"]),
    (range(3), [0, 1, 2]),
    (None, [None]),
    ({2, 3}, [{2, 3}]),
]


@pytest.mark.parametrize(("structure", "leaves"), FLATTENED)
def test_flatten(structure: Any, leaves: list[Any]) -> None:
    assert nest.flatten(structure) == leaves


def test_arrays_and_strings_are_leaves() -> None:
    assert not nest.is_nested(np.zeros(3))
    assert not nest.is_nested("abc")
    assert nest.is_nested({}.keys())


def test_keys_must_be_sortable() -> None:
    with pytest.raises(TypeError, match="sortable"):
        nest.flatten({1: 2, "a": 3})


def test_packing_keeps_types() -> None:
    counts: defaultdict[str, int] = defaultdict(int, {"q": 1, "b": 2})
    packed = nest.pack_sequence_as([counts, Point(1, (2,))], [5, 6, 7, 8])
    assert packed == [{"b": 5, "q": 6}, Point(7, (8,))]
    assert type(packed[0]) is defaultdict
    assert packed[0].default_factory is int
    assert list(packed[0]) == ["q", "b"]
    attrs = nest.pack_sequence_as(Attrs(0, 0), [1, 2])
    assert (attrs.z, attrs.y) == (1, 2)


@pytest.mark.parametrize(
    ("structure", "flat", "error", "text"),
    [
        ([1, 2], [3], ValueError, "Structure had 2 elements, but flat_sequence had 1"),
        ([1, 2], [3, 4, 5], ValueError, "flat_sequence had 3"),
        (1, [3, 4], ValueError, "Structure is a scalar"),
        (1, 3, TypeError, "flat_sequence must be a sequence"),
    ],
)
def test_packing_errors(
    structure: Any, flat: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        nest.pack_sequence_as(structure, flat)


@pytest.mark.parametrize(
    ("a", "b", "error", "error_without_types"),
    [
        (1, 2, None, None),
        ([1], [1, 2], ValueError, ValueError),
        ([1], (1,), TypeError, None),
        ({"a": 1}, {"b": 1}, ValueError, None),
        ({"a": 1}, {"a": 1, "b": 2}, ValueError, ValueError),
        ({"a": 1}, OrderedDict(a=2), None, None),
        (Point(1, 2), SamePoint(1, 2), None, None),
        (Point(1, 2), Other(1, 2), TypeError, None),
        (Point(1, 2), (1, 2), TypeError, None),
        ([1, [2]], [1, 2], ValueError, ValueError),
        (1, [1], ValueError, ValueError),
    ],
)
def test_same_structure(a: Any, b: Any, error: Any, error_without_types: Any) -> None:
    for check_types, expected in ((True, error), (False, error_without_types)):
        if expected is None:
            nest.assert_same_structure(a, b, check_types)
        else:
            with pytest.raises(expected, match="Entire first structure"):
                nest.assert_same_structure(a, b, check_types)


def test_map_structure() -> None:
    mapped = nest.map_structure(lambda x, y: x + y, [1, {"a": 2}], [3, {"a": 4}])
    assert mapped == [4, {"a": 6}]
    with pytest.raises(TypeError, match="func must be callable"):
        nest.map_structure(1, [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one structure"):
        nest.map_structure(abs)
    with pytest.raises(ValueError, match="Only valid keyword"):
        nest.map_structure(abs, [1], foo=1)


def test_up_to_a_shallow_structure() -> None:
    shallow = [1, {"a": 2}]
    deep = [[3, 4], {"a": (5,)}]
    assert nest_shallow.flatten_up_to(shallow, deep) == [[3, 4], (5,)]
    mapped = nest_shallow.map_structure_up_to(shallow, lambda x: len(x), deep)
    assert mapped == [2, {"a": 1}]
    with pytest.raises(TypeError, match="input must also be a sequence"):
        nest_shallow.flatten_up_to([1, [2]], [1, 2])
    with pytest.raises(ValueError, match="same sequence length"):
        nest_shallow.flatten_up_to([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="not a subset"):
        nest_shallow.flatten_up_to({"a": 1}, {"b": 2})


def test_paths() -> None:
    paths = nest_shallow.flatten_with_joined_string_paths([1, {"a": (2, Point(1, 3))}])
    assert paths == [("0", 1), ("1/a/0", 2), ("1/a/1/a", 1), ("1/a/1/b", 3)]
    mapped = nest_shallow.map_structure_with_paths(lambda p, x: (p, x), [1, {"a": 2}])
    assert mapped == [("0", 1), {"a": ("1/a", 2)}]


def test_traverse_shallow_structure() -> None:
    chosen = nest_shallow.get_traverse_shallow_structure(
        lambda s: isinstance(s, (tuple, list)), [1, (2, 3), {"a": 1}]
    )
    assert chosen == [False, (False, False), False]
    with pytest.raises(TypeError, match="non-bool scalar"):
        nest_shallow.get_traverse_shallow_structure(lambda s: 1, [1])


def test_dict_items() -> None:
    flat = nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d")), 7: [1]})
    assert flat == {4: "a", 5: "b", 6: "c", 8: "d", 7: [1]}
    with pytest.raises(ValueError, match="not unique"):
        nest.flatten_dict_items({4: 1, (4, 5): (1, 2)})


STRUCTURES = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.builds(Point, inner, inner),
    ),
    max_leaves=12,
)


@given(STRUCTURES)
def test_packing_is_the_inverse_of_flattening(structure: Any) -> None:
    leaves = nest.flatten(structure)
    packed = nest.pack_sequence_as(structure, leaves)
    assert packed == structure
    nest.assert_same_structure(structure, packed)


def test_composite_tensors_are_compared_by_their_specs() -> None:
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    whole = tf.SparseTensor([[0]], [1], [2])
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    compare = tf.nest.assert_same_structure
    for value in (sparse, slices):
        compare([value], [value._type_spec], expand_composites=True)
        compare([value._type_spec], [value], expand_composites=True)
    compare(sparse, whole)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        compare(sparse, whole, expand_composites=True)
    with pytest.raises(ValueError, match="is a sequence"):
        compare(sparse, 1.0, expand_composites=True)
    with pytest.raises(TypeError):
        compare(sparse, slices, expand_composites=True)
