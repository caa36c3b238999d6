"""`StackTraceMapper`: which lines of the program converted code comes from."""

from __future__ import annotations

import threading
from typing import Any

SourceMap = dict[tuple[str, int], tuple[str, int, str]]

_innermost = threading.local()


class StackTraceMapper:
    """The source map of a converted function, within those that are open around it.

    Converted code has the lines of the program itself, so that traces need no mapping;
    this says so of each line, with the function that it is in.

    Args:
      converted_fn: what `to_graph` gives.
    """

    def __init__(self, converted_fn: Any) -> None:
        self._source_map = converted_fn.ag_source_map
        self.reset()

    def reset(self) -> None:
        """Forgets the map around it, and what was worked out."""
        self.parent: StackTraceMapper | None = None
        self._effective: SourceMap | None = None

    def __enter__(self) -> StackTraceMapper:
        self.parent = getattr(_innermost, "mapper", None)
        self._effective = None
        _innermost.mapper = self
        return self

    def __exit__(
        self, unused_type: Any, unused_value: Any, unused_traceback: Any
    ) -> None:
        _innermost.mapper = self.parent
        self.reset()

    def get_effective_source_map(self) -> SourceMap:
        """(file, line) of converted code -> (file, line, function) of the program."""
        if self._effective is None:
            found = dict(self.parent.get_effective_source_map()) if self.parent else {}
            for place, origin in self._source_map.items():
                found[tuple(place)] = (*origin.loc, origin.function_name)
            self._effective = found
        return self._effective
