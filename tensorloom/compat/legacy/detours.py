"""What arrays of NumPy lost: methods, and the conversion of one element to a number.

An array is made in many places, and its class is NumPy's own, so that the program's
source takes a detour:

    x.tostring()     method(x, "tostring")()
    int(x)           int(scalar(x))
    a[i] = x         place(a)[i] = x
    "%d" % x         "%d" % numbers(x)

Only sources that have such places are compiled so, and everything but those arrays goes
the way that it always went.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

import numpy as np

from tensorloom.compat.legacy.notices import tell

_SCALAR: Final = "_tl_scalar"
_METHOD: Final = "_tl_method"
_PLACE: Final = "_tl_place"
_NUMBERS_OF: Final = "_tl_numbers"
_NUMBERS: Final = frozenset(["int", "float", "complex"])


def scalar(value: Any) -> Any:
    """The argument of `int` and its like: an array of one element without its axes."""
    if _is_one_element(value):
        tell("int and float of an array with axes (gone since NumPy 2.4)", "a.item()")
        return value.reshape(())
    return value


def _is_one_element(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.size == 1


class _Place:
    """An array whose items may be set to arrays of one element."""

    __slots__ = ("_array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        return self._array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            self._array[index] = value
        except (TypeError, ValueError):
            if not _is_one_element(value) or self._array.dtype == object:
                raise
            tell("a[i] = an array with axes (gone since NumPy 2.4)", "x.item()")
            self._array[index] = value.reshape(())


def place(target: Any) -> Any:
    """What items are set in: of an array, something that takes one element."""
    return _Place(target) if type(target) is np.ndarray else target


class _Number:
    """An array of one element, a number where a format wants one."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def _item(self) -> Any:
        tell('"%d" % an array with axes (gone since NumPy 2.4)', "x.item()")
        return self._array.item()

    def __int__(self) -> int:
        return int(self._item())

    def __float__(self) -> float:
        return float(self._item())

    def __str__(self) -> str:
        return str(self._array)

    def __repr__(self) -> str:
        return repr(self._array)


def numbers(values: Any) -> Any:
    """What a format takes: arrays of one element are numbers, too."""
    if _is_one_element(values):
        return _Number(values)
    if type(values) is tuple and any(_is_one_element(value) for value in values):
        return tuple(_Number(v) if _is_one_element(v) else v for v in values)
    return values


def _newbyteorder(value: Any, new_order: str = "S") -> Any:
    return value.view(value.dtype.newbyteorder(new_order))


def _itemset(value: Any, *arguments: Any) -> None:
    *place, item = arguments
    if len(place) == 1 and isinstance(place[0], tuple):
        place = list(place[0])
    if len(place) == 1:
        value.flat[place[0]] = item
    else:
        value[tuple(place)] = item


# Name -> (since when it is gone, what to write, a function of the array).
_GONE: Final[dict[str, tuple[str, str, Callable[..., Any]]]] = {
    "tostring": ("2.3", "tobytes", lambda value, order="C": value.tobytes(order)),
    "ptp": ("2.0", "np.ptp", np.ptp),
    "itemset": ("2.0", "a[index] = value", _itemset),
    "newbyteorder": ("2.0", "a.view(a.dtype.newbyteorder())", _newbyteorder),
}


def method(value: Any, name: str) -> Any:
    """The attribute; of an array that lost it, a function like it."""
    try:
        return getattr(value, name)
    except AttributeError:
        if not isinstance(value, (np.ndarray, np.generic)):
            raise
    since, instead, function = _GONE[name]
    tell(f"numpy.ndarray.{name} (gone since NumPy {since})", instead)
    return lambda *args, **kwargs: function(value, *args, **kwargs)


def _converts_one_element() -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            int(np.zeros(1))
        except TypeError:
            return False
    return True


_METHODS: Final = frozenset(name for name in _GONE if not hasattr(np.ndarray, name))
_CONVERTS: Final = _converts_one_element()
_CALLED: Final = frozenset() if _CONVERTS else _NUMBERS
# A cheap look at the source before it is parsed.
_ITEM_SET: Final = r"\][^\n]*=|\bfor\b[^\n]*\]\s*in\b"
_FORMAT: Final = r"""["']\s*\)?\s*%"""
_SIGNS: Final = [
    *(rf"\.\s*{name}\b" for name in sorted(_METHODS)),
    *(rf"\b{name}\(" for name in sorted(_CALLED)),
    *([] if _CONVERTS else [_ITEM_SET, _FORMAT]),
]
_MAY_NEED: Final = re.compile("|".join(_SIGNS) or r"(?!)")

BUILTINS: Final[dict[str, Any]] = {
    _SCALAR: scalar,
    _METHOD: method,
    _PLACE: place,
    _NUMBERS_OF: numbers,
}


def compiled(source: bytes, filename: str) -> CodeType:
    """The code of a source of the program.

    Raises:
      SyntaxError, ValueError: as `compile`.
    """
    if not needs_detours(source):
        return compile(source, filename, "exec", dont_inherit=True)
    tree = ast.parse(source, filename)
    detours = _Detours(_CALLED - _names_set(tree))
    return compile(detours.visit(tree), filename, "exec", dont_inherit=True)


def needs_detours(source: bytes) -> bool:
    """Whether a source may have such calls."""
    return _MAY_NEED.search(source.decode("utf-8", "replace")) is not None


def _names_set(tree: ast.Module) -> set[str]:
    """The names that the source gives a meaning of its own, anywhere."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found


class _Detours(ast.NodeTransformer):
    """Puts the calls of the two functions into a tree."""

    def __init__(self, numbers: frozenset[str]) -> None:
        self._numbers = numbers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of a number's type, or of a method."""
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in self._numbers:
            if len(node.args) == 1 and _may_be_array(node.args[0]):
                node.args = [_call(_SCALAR, node.args[0], node.args)]
        elif isinstance(function, ast.Attribute) and function.attr in _METHODS:
            name = ast.copy_location(ast.Constant(function.attr), function)
            node.func = _call(_METHOD, function, [function.value, name])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """An item that is set; a key that is a text is none of an array."""
        self.generic_visit(node)
        is_key = isinstance(node.slice, ast.Constant) and type(node.slice.value) is str
        if isinstance(node.ctx, ast.Store) and not (_CONVERTS or is_key):
            node.value = _call(_PLACE, node.value, [node.value])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A format, where the text stands before the percent sign."""
        self.generic_visit(node)
        is_format = isinstance(node.op, ast.Mod) and _is_text(node.left)
        if is_format and not _CONVERTS:
            node.right = _call(_NUMBERS_OF, node.right, [node.right])
        return node


def _is_text(node: ast.expr) -> bool:
    """Whether this is a text written down, or a sum that ends or begins with one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _may_be_array(node: ast.expr) -> bool:
    return not isinstance(node, (ast.Constant, ast.JoinedStr, ast.Starred, ast.Compare))


def _call(name: str, where: ast.expr, arguments: list[ast.expr]) -> ast.expr:
    function = ast.copy_location(ast.Name(name, ast.Load()), where)
    return ast.copy_location(ast.Call(function, arguments, []), where)
