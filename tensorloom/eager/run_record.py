"""When and where each op ran, as RunMetadata."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.interfaces import NodeStats
from tensorloom.framework.runtime import run_metadata

if TYPE_CHECKING:
    from tensorloom.eager.tensor_handle import TensorHandle
    from tensorloom.protos.config_pb2 import RunMetadata


class RunRecord:
    """Collects what ops cost until it is taken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: list[NodeStats] = []

    def run(self, kernel: Any, inputs: Sequence[TensorHandle]) -> list[TensorHandle]:
        """Runs a kernel and notes it."""
        start = time.time_ns()
        results: list[TensorHandle] = kernel.run(inputs)
        end = time.time_ns()
        op_type = kernel.node.op
        stats = NodeStats(
            kernel.device.name,
            op_type,
            op_type,
            start,
            end,
            threading.get_ident() & 0xFFFFFFFF,
            tuple(
                (handle.dtype.name, handle.dims, getattr(handle.value, "nbytes", 0))
                for handle in results
            ),
        )
        with self._lock:
            self._nodes.append(stats)
        return results

    def take(self) -> RunMetadata:
        """The record as a message; it begins anew."""
        from tensorloom.protos.config_pb2 import RunMetadata

        with self._lock:
            nodes, self._nodes = self._nodes, []
        message = RunMetadata()
        run_metadata.fill_step_stats(message.step_stats, nodes)
        return message
