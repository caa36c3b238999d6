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
    """The direct children, in the order of flatten; a leaf has none."""
    if not is_nested(value):
        return []
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


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """A structure like the given one with other leaves.

    Raises:
      TypeError: the leaves are no sequence.
      ValueError: there are more or fewer leaves.
    """
    if not isinstance(flat_sequence, list | tuple):
        raise TypeError("flat_sequence must be a sequence")
    leaves = list(flat_sequence)
    if not is_nested(structure) and len(leaves) != 1:
        raise ValueError(
            f"Structure is a scalar but len(flat_sequence) == {len(leaves)} > 1"
        )
    count = len(flatten(structure))
    if count != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but "
            f"flat_sequence had {len(leaves)} elements.  Structure: {structure}, "
            f"flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    return like(structure, [_pack(child, leaves) for child in children(structure)])


def map_structure(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """A structure of what a function makes of corresponding leaves.

    Args:
      func: gets a leaf of each structure.
      check_types: whether the structures must have the same types, too.

    Raises:
      TypeError or ValueError: the structures differ; `func` is no function; there is no
        structure, or another keyword than `check_types`.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = options.pop("check_types", True)
    if options:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    results = [func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Checks that two structures have the same types and keys.

    Args:
      check_types: whether types and keys count; else only how deep what is nested.

    Raises:
      ValueError: they do not nest in the same way, or their keys differ.
      TypeError: their types differ.
    """
    both = f"First structure: {nest1}, second structure: {nest2}."
    ours, theirs = children(nest1), children(nest2)
    if is_nested(nest1) != is_nested(nest2) or len(ours) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same nested structure. {both}"
        )
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure has "
            f"type {type(nest1)}, while second structure has type {type(nest2)}."
        )
    if check_types and isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(
            f"The two dictionaries don't have the same set of keys. {both}"
        )
    for mine, other in zip(ours, theirs, strict=True):
        assert_same_structure(mine, other, check_types)


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True
) -> None:
    """Checks that a structure goes on, at most, where a shallower one has its leaves.

    Raises:
      TypeError or ValueError: the shallow structure is no prefix of the other.
    """
    _up_to(shallow_tree, input_tree, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """What stands in a structure where a shallower one has its leaves.

    Raises:
      TypeError or ValueError: the shallow structure is no prefix of the other.
    """
    return _up_to(shallow_tree, input_tree, check_types=True)


def _up_to(shallow: Any, structure: Any, check_types: bool) -> list[Any]:
    if not is_nested(shallow):
        return [structure]
    if not is_nested(structure):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input "
            f"has type: {type(structure)}."
        )
    if check_types and type(shallow) is not type(structure):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has "
            f"type {type(structure)}, while shallow structure has type {type(shallow)}."
        )
    ours, theirs = children(shallow), children(structure)
    if len(ours) != len(theirs):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure "
            f"has length {len(theirs)}, while shallow structure has length "
            f"{len(ours)}."
        )
    if check_types and isinstance(shallow, Mapping) and set(shallow) != set(structure):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(structure)}, while shallow structure has keys {list(shallow)}."
        )
    found: list[Any] = []
    for mine, other in zip(ours, theirs, strict=True):
        found += _up_to(mine, other, check_types)
    return found


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any
) -> Any:
    """`map_structure` down to the leaves of a shallower structure."""
    columns = [flatten_up_to(shallow_tree, structure) for structure in inputs]
    results = [func(*values) for values in zip(*columns, strict=True)]
    return pack_sequence_as(shallow_tree, results)
