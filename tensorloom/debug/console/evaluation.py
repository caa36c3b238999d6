"""`eval`: Python expressions over dumped values, which stand in backticks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.debug.console.commands import CommandError
from tensorloom.debug.dumps.debug_graph import parse_node_or_tensor_name

if TYPE_CHECKING:
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir

_TENSOR: Final = re.compile(r"`([^`]+)`")


def evaluated(dump: DebugDumpDir, expression: str) -> Any:
    """The value of an expression such as "np.sum(`y:0`) - 1".

    A name in backticks is `y:0`, `y:0:DebugIdentity`, with `[2]` behind it the third of
    several dumps, and with a device and `:` before it one of that device.

    Raises:
      CommandError: there is no such value, or the expression fails.
    """
    values: dict[str, Any] = {"np": np, "numpy": np}

    def replaced(match: re.Match[str]) -> str:
        name = f"_tensor_{len(values)}"
        values[name] = _value(dump, match[1])
        return name

    text = _TENSOR.sub(replaced, expression)
    try:
        # The debugger's user is the one whose program this is.
        return eval(text, values)
    except Exception as error:
        raise CommandError(f"{type(error).__name__}: {error}") from None


class ExpressionEvaluator:
    """Evaluates expressions over one dump."""

    def __init__(self, dump: DebugDumpDir) -> None:
        """Makes one for a dump."""
        self._dump = dump

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, see `evaluated`.

        Raises:
          ValueError: there is no such value, or the expression fails.
        """
        try:
            return evaluated(self._dump, expression)
        except CommandError as error:
            raise ValueError(str(error)) from None


def _value(dump: DebugDumpDir, name: str) -> Any:
    number = 0
    numbered = re.match(r"^(.*)\[(\d+)\]$", name)
    if numbered is not None:
        name, number = numbered[1], int(numbered[2])
    device = None
    for known in dump.devices():
        if name.startswith(f"{known}:"):
            device, name = known, name.removeprefix(f"{known}:")
    key = re.match(r"^(.*:\d+):(\w+)$", name)
    tensor, op = (key[1], key[2]) if key is not None else (name, "DebugIdentity")
    node, slot = parse_node_or_tensor_name(tensor)
    found = dump.get_tensors(node, slot or 0, op, device)
    if number >= len(found):
        raise CommandError(f"{name} was dumped {len(found)} time(s)")
    return found[number]
