"""Structures of elements: tuples and dicts; a list is a value that becomes a tensor.

That is the difference to `tf.nest`: `tf.data` takes `[1, 2, 3]` for one tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensorloom.framework.types.nest import items_of, like
from tensorloom.framework.types.sparse_tensor import SparseTensorValue


def is_nested(value: Any) -> bool:
    """True for tuples, dicts and attrs objects."""
    if isinstance(value, (list, str, bytes, SparseTensorValue)):
        return False
    return isinstance(value, (tuple, Mapping)) or hasattr(
        type(value), "__attrs_attrs__"
    )


def children(value: Any) -> list[Any]:
    """The direct children, in the order of flatten."""
    return [child for _, child in items_of(value)]


def flatten(structure: Any) -> list[Any]:
    """The leaves in order."""
    return list(_leaves(structure))


def _leaves(structure: Any) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for child in children(structure):
        yield from _leaves(child)


def pack_sequence_as(structure: Any, leaves: Sequence[Any]) -> Any:
    """A structure like the given one with other leaves.

    Raises:
      ValueError: there are more or fewer leaves.
    """
    count = len(flatten(structure))
    if count != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but "
            f"flat_sequence had {len(leaves)} elements. Structure: {structure}, "
            f"flat_sequence: {leaves}."
        )
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    return like(structure, [_pack(child, leaves) for child in children(structure)])


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """A structure of what a function makes of corresponding leaves.

    Raises:
      TypeError or ValueError: the structures differ.
    """
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    results = [
        function(*leaves) for leaves in zip(*map(flatten, structures), strict=True)
    ]
    return pack_sequence_as(structures[0], results)


def assert_same_structure(first: Any, second: Any) -> None:
    """Checks that two structures have the same types and keys.

    Raises:
      ValueError: they do not nest in the same way.
      TypeError: their types or keys differ.
    """
    if is_nested(first) != is_nested(second):
        raise ValueError(
            "The two structures don't have the same nested structure. First structure: "
            f"{first}, second structure: {second}."
        )
    if not is_nested(first):
        return
    if type(first) is not type(second):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure has "
            f"type {type(first)}, while second structure has type {type(second)}."
        )
    ours, theirs = children(first), children(second)
    if len(ours) != len(theirs):
        raise ValueError(
            "The two structures don't have the same number of elements. First "
            f"structure: {first}, second structure: {second}."
        )
    if isinstance(first, Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure: "
            f"{first}, second structure: {second}."
        )
    for mine, other in zip(ours, theirs, strict=True):
        assert_same_structure(mine, other)


def flatten_up_to(shallow: Any, structure: Any) -> list[Any]:
    """What stands in a structure where a shallower one has its leaves.

    Raises:
      TypeError or ValueError: the shallow structure is no prefix of the other.
    """
    if not is_nested(shallow):
        return [structure]
    if not is_nested(structure):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input "
            f"has type: {type(structure)}."
        )
    if type(shallow) is not type(structure):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has "
            f"type {type(structure)}, while shallow structure has type {type(shallow)}."
        )
    if isinstance(shallow, Mapping) and set(shallow) != set(structure):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. Shallow structure: "
            f"{shallow}, input structure: {structure}."
        )
    ours, theirs = children(shallow), children(structure)
    if len(ours) != len(theirs):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure "
            f"has length {len(theirs)}, while shallow structure has length "
            f"{len(ours)}."
        )
    found: list[Any] = []
    for mine, other in zip(ours, theirs, strict=True):
        found += flatten_up_to(mine, other)
    return found


def map_structure_up_to(
    shallow: Any, function: Callable[..., Any], *structures: Any
) -> Any:
    """`map_structure` down to the leaves of a shallower structure."""
    columns = [flatten_up_to(shallow, structure) for structure in structures]
    results = [function(*values) for values in zip(*columns, strict=True)]
    return pack_sequence_as(shallow, results)
