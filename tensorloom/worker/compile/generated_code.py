"""Generated Python functions, and the node behind each of their lines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.worker.run.node_error import CODES

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.worker.compile.emitter import Emitter
    from tensorloom.worker.compile.values import Line

_piece_numbers = itertools.count()


class Code:
    """One generated function and the nodes behind its lines."""

    def __init__(
        self,
        emitter: Emitter,
        head: str,
        prologue: Sequence[str],
        lines: Sequence[Line],
        epilogue: Sequence[str],
        function_name: str | None = None,
    ) -> None:
        self.filename = f"<piece {next(_piece_numbers)}>"
        self.function_name = function_name  # of a function that kernels call
        text = [f"def piece({head}):", *(f"    {t}" for t in prologue)]
        self._nodes: list[tuple[str, Node | None]] = [("", None)] * len(text)
        for line in lines:
            text.append("    " * (line.depth + 1) + line.text)
            self._nodes.append((line.prefix, line.node))
        text += [f"    {t}" for t in epilogue]
        self.source = "\n".join(text) + "\n"
        exec(compile(self.source, self.filename, "exec"), emitter.names)
        self.function: Callable[..., Any] = emitter.names["piece"]
        self.device = emitter.device.name
        emitter.names.setdefault(CODES, {})[self.filename] = self

    def node_at(self, line: int) -> Node | None:
        """The node of a source line (from 1); its name has those of the calls before.

        `while/add` is the node `add` in the body of the node `while`.
        """
        if line > len(self._nodes):
            return None
        prefix, node = self._nodes[line - 1]
        if node is None or not prefix:
            return node
        return node.replace(name=prefix + node.name)
