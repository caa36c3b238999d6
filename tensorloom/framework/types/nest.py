"""Nested structures: lists, tuples, namedtuples, dicts and attrs classes of values.

Dicts are walked in the order of their sorted keys, whatever their type, so that equal
dicts flatten to equal lists. With `expand_composites`, IndexedSlices and SparseTensor
are structures of their tensors too; without, they are leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.composite_tensor import CompositeTensor

# The types that nearly every structure is made of; asking the abstract base classes
# costs a microsecond, looking in a set fifty nanoseconds.
_STRUCTURES = frozenset([list, tuple, dict])
_LEAVES = frozenset([int, float, bool, str, bytes, type(None)])


@export("nest.is_nested", "contrib.framework.nest.is_nested")
def is_nested(seq: Any) -> bool:
    """True for lists, tuples, dicts, attrs objects and other sequences, not strings."""
    kind = type(seq)
    if kind in _STRUCTURES:
        return True
    if kind in _LEAVES:
        return False
    if isinstance(seq, (str, bytes)):
        return False
    return isinstance(seq, (Sequence, Mapping, MappingView)) or _is_attrs(seq)


@export("contrib.framework.nest.is_sequence")
def is_sequence(seq: Any) -> bool:
    """Alias of `is_nested`."""
    return is_nested(seq)


@export("contrib.framework.nest.is_sequence_or_composite")
def is_sequence_or_composite(seq: Any) -> bool:
    """True for structures, and for composite tensors."""
    return is_nested(seq) or isinstance(seq, CompositeTensor)


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def is_namedtuple(value: Any) -> bool:
    """True for instances of a namedtuple class."""
    return isinstance(value, tuple) and isinstance(
        getattr(value, "_fields", None), tuple
    )


def same_namedtuples(a: Any, b: Any) -> bool:
    """True when the classes of two namedtuples have equal names and fields."""
    return type(a).__name__ == type(b).__name__ and a._fields == b._fields


def nesting_test(expand_composites: bool) -> Callable[[Any], bool]:
    """The function that tells structures from leaves."""
    return is_sequence_or_composite if expand_composites else is_nested


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys of a dict in sorted order.

    Raises:
      TypeError: they cannot be compared.
    """
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def items_of(structure: Any) -> Iterator[tuple[Any, Any]]:
    """(key, value) of the direct children of a structure, in the order of flatten."""
    if isinstance(structure, Mapping):
        for key in sorted_keys(structure):
            yield key, structure[key]
    elif _is_attrs(structure):
        for attribute in type(structure).__attrs_attrs__:
            yield attribute.name, getattr(structure, attribute.name)
    elif is_namedtuple(structure):
        for field in structure._fields:
            yield field, getattr(structure, field)
    elif isinstance(structure, CompositeTensor):
        yield type(structure).__name__, structure.composite_parts()
    else:
        yield from enumerate(structure)


def children_of(structure: Any) -> Sequence[Any]:
    """The direct children of a structure, in the order of flatten."""
    kind = type(structure)
    if kind is list or kind is tuple:
        return structure  # type: ignore[no-any-return]
    return [value for _, value in items_of(structure)]


def like(structure: Any, children: Sequence[Any]) -> Any:
    """A structure of the same type with other direct children."""
    kind = type(structure)
    if kind is list:
        return list(children)
    if kind is tuple:
        return tuple(children)
    if isinstance(structure, Mapping):
        return _mapping_like(structure, children)
    if isinstance(structure, (MappingView, range)):
        return list(children)
    if is_namedtuple(structure) or _is_attrs(structure):
        return kind(*children)
    if isinstance(structure, CompositeTensor):
        return structure.with_composite_parts(children[0])
    return kind(children)


def _mapping_like(structure: Mapping[Any, Any], children: Sequence[Any]) -> Any:
    values = dict(zip(sorted_keys(structure), children, strict=True))
    if isinstance(structure, defaultdict):
        made: defaultdict[Any, Any] = defaultdict(structure.default_factory)
        made.update((key, values[key]) for key in structure)
        return made
    make: Any = type(structure)
    return make((key, values[key]) for key in structure)


@export("nest.flatten", "contrib.framework.nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in order; a leaf alone gives a list of one.

    Raises:
      TypeError: the keys of a dict cannot be sorted.
    """
    leaves: list[Any] = []
    _flatten_into(leaves, structure, nesting_test(expand_composites))
    return leaves


def _flatten_into(
    leaves: list[Any], structure: Any, nested: Callable[[Any], bool]
) -> None:
    if not nested(structure):
        leaves.append(structure)
        return
    for child in children_of(structure):
        _flatten_into(leaves, child, nested)


@export("nest.pack_sequence_as", "contrib.framework.nest.pack_sequence_as")
def pack_sequence_as(
    structure: Any, flat_sequence: Any, expand_composites: bool = False
) -> Any:
    """Leaves put into the form of a structure: the inverse of `flatten`.

    Raises:
      TypeError: `flat_sequence` is not a sequence.
      ValueError: the numbers of leaves differ.
    """
    nested = nesting_test(expand_composites)
    if not nested(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    if not nested(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)}"
                " > 1"
            )
        return flat_sequence[0]
    needed = len(flatten(structure, expand_composites))
    if needed != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {needed} elements, but "
            f"flat_sequence had {len(flat_sequence)} elements.  Structure: "
            f"{structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence), nested)


def _pack(structure: Any, leaves: Iterator[Any], nested: Callable[[Any], bool]) -> Any:
    children = [
        _pack(child, leaves, nested) if nested(child) else next(leaves)
        for child in children_of(structure)
    ]
    return like(structure, children)


@export("nest.map_structure", "contrib.framework.nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` applied to the leaves of one or more equal structures.

    Keyword arguments are `check_types` and `expand_composites`.

    Raises:
      TypeError: `func` cannot be called, or the structures differ in type.
      ValueError: there is no structure, they differ, or a keyword is unknown.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            "not: `{}`".format("`, `".join(kwargs))
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    flat = [flatten(s, expand) for s in structure]
    leaves = [func(*values) for values in zip(*flat, strict=True)]
    return pack_sequence_as(structure[0], leaves, expand)


class _Dot:
    """Stands for a leaf where an error prints a structure."""

    def __str__(self) -> str:
        return "."

    __repr__ = __str__


_DOT = _Dot()


@export("nest.assert_same_structure", "contrib.framework.nest.assert_same_structure")
def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that two structures are nested in the same way.

    With `check_types` the types of lists, tuples and namedtuples count too (dicts of
    any type, and namedtuples of equal name and fields, are the same).

    Raises:
      ValueError: they differ in length, keys or nesting.
      TypeError: they differ in type.
    """
    try:
        _compare(nest1, nest2, check_types, nesting_test(expand_composites))
    except (ValueError, TypeError) as error:
        first = map_structure(lambda _: _DOT, nest1)
        second = map_structure(lambda _: _DOT, nest2)
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_describe(nest1)}\n\n"
            f"Second structure: {_describe(nest2)}\n\n"
            f"More specifically: {error}\n"
            f"Entire first structure:\n{first}\nEntire second structure:\n{second}"
        ) from None


def _describe(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _compare(a: Any, b: Any, check_types: bool, nested: Callable[[Any], bool]) -> None:
    a_nested, b_nested = nested(a), nested(b)
    if (a_nested or b_nested) and _are_composite(a, b, check_types, nested):
        return
    if a_nested != b_nested:
        yes, no = (a, b) if a_nested else (b, a)
        raise ValueError(
            f'Substructure "{_describe(yes)}" is a sequence, while substructure '
            f'"{_describe(no)}" is not'
        )
    if not a_nested:
        return
    if check_types:
        _compare_types(a, b)
    children_a, children_b = children_of(a), children_of(b)
    if len(children_a) != len(children_b):
        raise ValueError(
            "The two structures don't have the same number of elements. First "
            f"structure: {_describe(a)}. Second structure: {_describe(b)}"
        )
    for child_a, child_b in zip(children_a, children_b, strict=True):
        _compare(child_a, child_b, check_types, nested)


def _are_composite(
    a: Any, b: Any, check_types: bool, nested: Callable[[Any], bool]
) -> bool:
    """Whether they are composite tensors, or one and a spec, that are expanded.

    Raises:
      ValueError: their specs do not go together.
      TypeError: they are of different classes.
    """
    kinds = [isinstance(value, CompositeTensor) for value in (a, b)]
    if nested is not is_sequence_or_composite or not any(kinds):
        return False
    if all(kinds) and check_types:
        _compare_types(a, b)
    try:
        first, second = (
            value._type_spec if is_composite else value
            for value, is_composite in zip((a, b), kinds, strict=True)
        )
        merge = first.most_specific_compatible_type
        _ = second.most_specific_compatible_type
    except AttributeError:  # no spec: the parts are compared
        return False
    try:
        merge(second)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Incompatible CompositeTensor TypeSpecs: {first} vs. {second} -- {error}"
        ) from None
    return True


def _compare_types(a: Any, b: Any) -> None:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure "
                f"has keys {_describe(list(a))}, while second structure has keys "
                f"{_describe(list(b))}"
            )
        return
    if type(a) is type(b):
        return
    if is_namedtuple(a) and is_namedtuple(b) and same_namedtuples(a, b):
        return
    raise TypeError(
        "The two namedtuples don't have the same sequence type. First structure "
        f"{_describe(a)} has type {type(a).__name__}, while second structure "
        f"{_describe(b)} has type {type(b).__name__}"
    )


@export("contrib.framework.nest.flatten_dict_items")
def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """A dict whose structured keys are spread out along with their values.

    Raises:
      TypeError: the argument is not a dict.
      ValueError: a key and its value differ in structure, or a key occurs twice.
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys = flatten(key) if is_nested(key) else [key]
        values = flatten(value) if is_nested(key) else [value]
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but "
                f"value had {len(values)} elements. Key: {keys}, value: {values}."
            )
        for new_key, new_value in zip(keys, values, strict=True):
            if new_key in flat:
                raise ValueError(
                    f"Could not flatten dictionary: key {new_key} is not unique."
                )
            flat[new_key] = new_value
    return flat
