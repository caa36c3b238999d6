"""Notebooks (`.ipynb`) as programs: their cells of code, in order.

What IPython has beyond Python is left out: commands of the shell, magics, questions.
Every line of a cell stays a line.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from typing import Final

from tensorloom.framework.errors import invalid_argument

# Magics of a whole cell that run it as Python; others hold something else.
_PYTHON_CELLS: Final = frozenset(["capture", "prun", "time", "timeit"])
_COMMAND: Final = re.compile(r"(\s*)(?:[%!]|\?|.*\?\s*$)")
_ASSIGNED: Final = re.compile(r"(\s*[\w, ]+=\s*)[%!]")


def program_of(data: bytes, path: str) -> bytes:
    """The cells of code, one after the other, as a program in Python.

    Raises:
      InvalidArgumentError: it is no notebook.
    """
    try:
        sources = [
            "".join(cell["source"])
            for cell in json.loads(data)["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise invalid_argument(f"{path}: not a notebook: {error!r}") from None
    return "\n".join(map(_as_python, sources)).encode("utf-8", "surrogatepass")


def _as_python(source: str) -> str:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        ast.parse(source)
        return source
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        if lines[0][2:].partition(" ")[0] not in _PYTHON_CELLS:
            return "\n" * (len(lines) - 1)
        lines[0] = ""
    return "\n".join(map(_line, lines))


def _line(line: str) -> str:
    assigned = _ASSIGNED.match(line)
    if assigned:
        return assigned[1] + "None"
    command = _COMMAND.match(line)
    if command and not line.lstrip().startswith("#"):  # a comment may ask
        return command[1] + "pass"
    return line
