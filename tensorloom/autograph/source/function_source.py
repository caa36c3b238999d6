"""The syntax tree of a function, with the line numbers of its file."""

from __future__ import annotations

import ast
import copy
import functools
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.Lambda


def find_definition(function: Any) -> Definition:
    """A copy of the tree of a function or lambda; its lines are those of its file.

    The whole file is parsed, so that line and column tell which lambda of a line is
    meant.

    Raises:
      OSError: there is no source.
      ValueError: the source is not that of the function.
      NotImplementedError: it is no plain function: a coroutine.
    """
    code: CodeType = function.__code__
    linecache.checkcache(code.co_filename)
    # Not `inspect.findsource`: it goes through all modules to find that of the code.
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise OSError(f"could not get source code of {function}: {code.co_filename}")
    tree = _parsed("".join(lines))
    is_lambda = code.co_name == "<lambda>"
    found = list(_lambdas(tree, code) if is_lambda else _functions(tree, code))
    if len(found) != 1:
        what = "lambda function" if is_lambda else "function"
        raise ValueError(
            f"Unable to identify source code of {what} {function}. It was defined in "
            f"{code.co_filename}, line {code.co_firstlineno}; has the file changed?"
        )
    return copy.deepcopy(found[0])


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"the source cannot be parsed: {error}") from error


def _functions(tree: ast.AST, code: CodeType) -> Iterator[Definition]:
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if node.name != code.co_name or first != code.co_firstlineno:
            continue
        if isinstance(node, ast.AsyncFunctionDef):
            raise NotImplementedError("Coroutines are not supported by AutoGraph")
        yield node


def _lambdas(tree: ast.AST, code: CodeType) -> Iterator[Definition]:
    spans = list(_spans(code))
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and _parameters(node) == code.co_varnames[: code.co_argcount]
        and all(_contains(node.body, span) for span in spans)
    ]
    # Without columns (python -X no_debug_ranges) all lambdas of the line are meant.
    if spans and found:
        found = [min(found, key=lambda node: len(ast.dump(node)))]
    yield from found


def _parameters(node: ast.Lambda) -> tuple[str, ...]:
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))


_Span = tuple[int, int, int, int]


def _spans(code: CodeType) -> Iterator[_Span]:
    """Where the instructions stand: (line, column, last line, last column)."""
    for line, last_line, column, last_column in code.co_positions():
        if None in (line, last_line, column, last_column) or (
            (line, column) == (last_line, last_column)
        ):
            continue
        yield line, column, last_line, last_column  # type: ignore[misc]


def _contains(node: ast.expr, span: _Span) -> bool:
    first, last = span[:2], span[2:]
    end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return (node.lineno, node.col_offset) <= first and last <= end
