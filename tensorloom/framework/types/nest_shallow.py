"""Nested structures taken apart down to another, shallower structure; and paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.nest import (
    children_of,
    flatten,
    is_namedtuple,
    items_of,
    like,
    nesting_test,
    pack_sequence_as,
    same_namedtuples,
)

Path = tuple[Any, ...]


# Messages that programs for TensorFlow compare with.
SHALLOW_TREE_HAS_INVALID_KEYS: Final = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The "
    "shallow_tree has the following keys that are not in the input_tree: {}."
)
STRUCTURES_HAVE_MISMATCHING_TYPES: Final = (
    "The two structures don't have the same sequence type. Input structure has "
    "type {input_type}, while shallow structure has type {shallow_type}."
)
STRUCTURES_HAVE_MISMATCHING_LENGTHS: Final = (
    "The two structures don't have the same sequence length. Input structure has "
    "length {input_length}, while shallow structure has length {shallow_length}."
)
INPUT_TREE_SMALLER_THAN_SHALLOW_TREE: Final = (
    "The input_tree has fewer elements than the shallow_tree. Input structure has "
    "length {input_size}, while shallow structure has length {shallow_size}."
)
IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ: Final = (
    "If shallow structure is a sequence, input must also be a sequence. Input has "
    "type: {}."
)


@export("contrib.framework.nest.assert_shallow_structure")
def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Checks that `input_tree` is nested like `shallow_tree`, as deep as that goes.

    Raises:
      TypeError: a sequence is missing in the input, or is of another type.
      ValueError: lengths or keys differ.
    """
    nested = nesting_test(expand_composites)
    if not nested(shallow_tree):
        return
    if not nested(input_tree):
        raise TypeError(IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    if check_types:
        _check_types(shallow_tree, input_tree)
    if not isinstance(shallow_tree, CompositeTensor):
        _check_lengths(shallow_tree, input_tree, check_subtrees_length)
    if isinstance(shallow_tree, Mapping):
        absent = set(shallow_tree) - set(input_tree)
        if absent:
            raise ValueError(SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(absent)))
    branches = zip(children_of(shallow_tree), children_of(input_tree), strict=False)
    for shallow_branch, input_branch in branches:
        assert_shallow_structure(
            shallow_branch,
            input_branch,
            check_types,
            expand_composites,
            check_subtrees_length,
        )


def _check_types(shallow_tree: Any, input_tree: Any) -> None:
    if isinstance(input_tree, type(shallow_tree)):
        return
    if isinstance(shallow_tree, Mapping) and isinstance(input_tree, Mapping):
        return
    if is_namedtuple(shallow_tree) and is_namedtuple(input_tree):  # noqa: SIM102
        if same_namedtuples(shallow_tree, input_tree):
            return
    raise TypeError(
        STRUCTURES_HAVE_MISMATCHING_TYPES.format(
            input_type=type(input_tree), shallow_type=type(shallow_tree)
        )
    )


def _check_lengths(shallow_tree: Any, input_tree: Any, exact: bool) -> None:
    wanted, got = len(children_of(shallow_tree)), len(children_of(input_tree))
    if exact and wanted != got:
        raise ValueError(
            STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(
                input_length=got, shallow_length=wanted
            )
        )
    if got < wanted:
        raise ValueError(
            INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(
                input_size=got, shallow_size=wanted
            )
        )


def _walk_up_to(
    shallow_tree: Any, input_tree: Any, nested: Callable[[Any], bool], path: Path = ()
) -> Iterator[tuple[Path, Any]]:
    if not nested(shallow_tree):
        yield path, input_tree
        return
    branches = dict(items_of(input_tree))
    for key, subtree in items_of(shallow_tree):
        yield from _walk_up_to(subtree, branches[key], nested, (*path, key))


@export("contrib.framework.nest.flatten_up_to")
def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """The parts of `input_tree` that stand where `shallow_tree` has its leaves.

    Raises:
      TypeError, ValueError: see `assert_shallow_structure`.
    """
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [value for _, value in pairs]


@export("contrib.framework.nest.flatten_with_tuple_paths_up_to")
def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[Path, Any]]:
    """`flatten_up_to` with the path of keys that leads to each part."""
    assert_shallow_structure(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return list(_walk_up_to(shallow_tree, input_tree, nesting_test(expand_composites)))


@export("contrib.framework.nest.map_structure_up_to")
def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func` applied to what `flatten_up_to` gives, packed like `shallow_tree`."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *values: func(*values), *inputs, **kwargs
    )


@export("contrib.framework.nest.map_structure_with_tuple_paths_up_to")
def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`map_structure_up_to` with the path as the first argument of `func`.

    Raises:
      ValueError: there is no input.
      TypeError, ValueError: see `assert_shallow_structure`.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    exact = kwargs.pop("check_subtrees_length", True)
    flat = [
        flatten_up_to(shallow_tree, tree, check_types, expand, exact) for tree in inputs
    ]
    nested = nesting_test(expand)
    paths = [path for path, _ in _walk_up_to(shallow_tree, inputs[0], nested)]
    results = [func(*values, **kwargs) for values in zip(paths, *flat, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand)


@export("contrib.framework.nest.map_structure_with_paths")
def map_structure_with_paths(
    func: Callable[..., Any], *structure: Any, **kwargs: Any
) -> Any:
    """`map_structure` with the leaf's path, joined by `/`, as the first argument."""

    def with_text(path: Path, *values: Any, **kwargs: Any) -> Any:
        return func("/".join(str(key) for key in path), *values, **kwargs)

    return map_structure_with_tuple_paths_up_to(
        structure[0], with_text, *structure, **kwargs
    )


@export("contrib.framework.nest.map_structure_with_tuple_paths")
def map_structure_with_tuple_paths(
    func: Callable[..., Any], *structure: Any, **kwargs: Any
) -> Any:
    """`map_structure` with the leaf's path as the first argument."""
    return map_structure_with_tuple_paths_up_to(
        structure[0], func, *structure, **kwargs
    )


@export("contrib.framework.nest.yield_flat_paths")
def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """The path of each leaf, in the order of flatten."""
    for path, _ in _walk_up_to(nest, nest, nesting_test(expand_composites)):
        yield path


@export("contrib.framework.nest.flatten_with_joined_string_paths")
def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """(path joined by the separator, leaf) of each leaf."""
    return [
        (separator.join(str(key) for key in path), leaf)
        for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


@export("contrib.framework.nest.flatten_with_tuple_paths")
def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """(path, leaf) of each leaf."""
    paths = yield_flat_paths(structure, expand_composites)
    return list(zip(paths, flatten(structure, expand_composites), strict=True))


@export("contrib.framework.nest.get_traverse_shallow_structure")
def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The shallow structure of bools that `traverse_fn` chooses to go down.

    `traverse_fn` gets a substructure and returns a bool, or one for each child.

    Raises:
      TypeError: it returns something else.
    """
    nested = nesting_test(expand_composites)
    chosen = traverse_fn(structure)
    if not nested(structure):
        if not isinstance(chosen, bool):
            raise TypeError(
                f"traverse_fn returned structure: {chosen} for non-structure: "
                f"{structure}"
            )
        return chosen
    if chosen is False:
        return False
    children = children_of(structure)
    if chosen is True:
        flags: Any = [True] * len(children)
    elif not nested(chosen):
        raise TypeError(
            f"traverse_fn returned a non-bool scalar: {chosen} for input: {structure}"
        )
    else:
        assert_shallow_structure(chosen, structure, expand_composites=expand_composites)
        flags = children_of(chosen)
    if not all(isinstance(flag, bool) for flag in flags):
        raise TypeError(
            "traverse_fn didn't return a depth=1 structure of bools.  saw: "
            f"{chosen}  for structure: {structure}"
        )
    picked = [
        get_traverse_shallow_structure(traverse_fn, child, expand_composites)
        if flag
        else False
        for flag, child in zip(flags, children, strict=True)
    ]
    return like(structure, picked)
