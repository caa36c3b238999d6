"""`tensorflow.python.framework.error_interpolation`: the source lines of operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.protos.graph_debug_info_pb2 import GraphDebugInfo

# So many frames of each operation are told, the innermost first.
_FRAMES: Final = 10


def create_graph_debug_info_def(
    operations: Iterable[tuple[str, Operation]],
) -> GraphDebugInfo:
    """Where in the program operations were made.

    Args:
      operations: (what stands before its name, such as a function's name; operation).
    """
    from tensorloom.protos.graph_debug_info_pb2 import GraphDebugInfo

    made = GraphDebugInfo()
    numbers: dict[str, int] = {}
    for function, op in operations:
        lines = made.traces[function + op.name].file_line_cols
        for file, line, *_ in op.traceback[: -_FRAMES - 1 : -1]:
            lines.add(file_index=numbers.setdefault(file, len(numbers)), line=line)
    made.files.extend(numbers)
    return made
