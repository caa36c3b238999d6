"""What nodes of a traced step took, one by one and in sums."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any


class ProfileDatum:
    """What one node took."""

    def __init__(
        self,
        device_name: str,
        node_exec_stats: Any,
        file_path: str | None,
        line_number: int,
        func_name: str,
        op_type: str,
    ) -> None:
        """Makes one of a `NodeExecStats` and the line that made the node."""
        self.device_name = device_name
        self.node_exec_stats = node_exec_stats
        self.file_path = file_path
        self.line_number = line_number
        self.func_name = func_name
        self.op_type = op_type
        #: `train.py:12(main)`.
        self.file_line_func = (
            f"{os.path.basename(file_path)}:{line_number}({func_name})"
            if file_path
            else ""
        )
        #: Microseconds since 1970.
        self.start_time: int = node_exec_stats.all_start_micros
        #: Microseconds of the kernel.
        self.op_time: int = (
            node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros
        )

    @property
    def exec_time(self) -> int:
        """Microseconds, with what is before and after the kernel."""
        told: int = self.node_exec_stats.all_end_rel_micros
        return told


class AggregateProfile:
    """The sums of several nodes."""

    def __init__(self, profile_datum: ProfileDatum) -> None:
        """Begins with one node."""
        self.total_op_time = 0
        self.total_exec_time = 0
        self._runs: Counter[tuple[str, str]] = Counter()
        self.add(profile_datum)

    def add(self, profile_datum: ProfileDatum) -> None:
        """Adds a node, or another run of one."""
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        node = profile_datum.device_name, profile_datum.node_exec_stats.node_name
        self._runs[node] += 1

    @property
    def node_count(self) -> int:
        """How many nodes they are."""
        return len(self._runs)

    @property
    def node_exec_count(self) -> int:
        """How many runs of nodes."""
        return self._runs.total()
