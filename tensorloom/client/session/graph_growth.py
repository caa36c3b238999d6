"""A warning for programs whose graph grows while they train.

An operation added in the training loop (`sess.run(tf.assign(...))`, a summary, a
slice) makes every step slower and never goes away. TensorFlow stays silent about it.
"""

from __future__ import annotations

import warnings
from types import CodeType
from typing import TYPE_CHECKING

from tensorloom.framework.graph import source

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph

# Growth between runs from one line is a habit, not setup, from this often on.
_WARN_AT = 10

_Line = tuple[CodeType, int]


class GrowthWatch:
    """Counts, for each user line, between how many runs it added operations."""

    __slots__ = ("_counts", "_graph", "_seen", "_warned", "version")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._counts: dict[_Line, int] = {}
        self._seen = -1  # operations when the last run began; -1 before the first
        self._warned = False
        #: `graph.version` as of the last look; a run compares it.
        self.version = -1

    def started(self) -> None:
        """Called with the first run: what was added before it is setup."""
        if self._seen < 0:
            self._take()

    def _take(self) -> None:
        self.version = self._graph._next_id_value
        self._seen = len(self._graph._operations)

    def note(self) -> None:
        """Called by a run that finds a graph of another version."""
        if self._seen < 0:
            return
        new = self._graph._operations[self._seen :]
        self._take()
        if self._warned:
            return
        for line in {op._stack[0] for op in new if op._stack}:
            count = self._counts[line] = self._counts.get(line, 0) + 1
            if count >= _WARN_AT:
                self._warn(line, len(new))
                return

    def _warn(self, line: _Line, added: int) -> None:
        self._warned = True
        self._counts.clear()
        filename, number, _, _ = source.summary((line,))[0]
        warnings.warn_explicit(
            f"{filename}:{number} adds operations to the graph between steps, "
            f"again and again (at present {added} before each run; the graph has "
            f"{self._seen}). Build operations once, before the loop, and feed what "
            "changes: the graph only grows, and every step gets slower.",
            UserWarning,
            filename,
            number,
        )
