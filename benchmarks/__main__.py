"""python -m benchmarks [--json FILE] [--only REGEX] [--repeats N]."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from benchmarks.c_api import C_API_WORKLOADS
from benchmarks.fresh_processes import PROCESS_WORKLOADS, ProcessWorkload
from benchmarks.machine import this_machine
from benchmarks.processes import OURS, SYSTEMS, Worker, WorkloadError, python_of
from benchmarks.report import Row, print_rows, write_json
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from benchmarks.workloads.table import Workload

# Kept here, so that the list of torch's rows costs no import of torch.
# TensorFlow has no such interface in Python.
OURS_ALONE = re.compile("^worker: |^figure: ")
# TensorFlow has none of these.
LIBRARY_ALONE = re.compile("^lock service: |^allreduce: |^elastic: ")
C_API = re.compile("^C API: ")  # the wheel of 1.15 has no headers, torch no such API
NOT_IN_115 = re.compile("^serving: ")  # the front end by hand is of Python today
TORCH_ROWS = re.compile("MLP|CNN|residual|LSTM.*unrolled")
# Neither tf.layers nor tf.estimator nor tf.contrib.
NOT_IN_221 = re.compile(r"tf\.layers|^slim |Estimator|train_and_evaluate|^beam |^CRF ")


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument(
        "--only", default="", help="workloads whose name has this regex"
    )
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each")
    parser.add_argument(
        "--systems", default=",".join(SYSTEMS), help="a part of the systems, by commas"
    )
    return parser.parse_args(arguments)


class Suite:
    """Runs workloads in every system that is here, in turns."""

    def __init__(self, systems: list[str], repeats: int) -> None:
        self._systems = systems
        self._repeats = repeats
        self._workers: dict[str, Worker] = {}

    def run(self, workload: Workload | ProcessWorkload) -> Row:
        """All measurements of one workload."""
        if isinstance(workload, ProcessWorkload):
            row = Row(workload.name, workload.target, workload.unit, workload.limit)
            self._measure(row, self._systems_of(workload.name), workload.measure)
            return row
        name = workload.name
        row = Row(name, workload.target, workload.unit, workload.seconds)
        row.has_library_alone = LIBRARY_ALONE.search(name) is not None
        self._measure(
            row,
            [key for key in self._systems_of(name) if self._prepare(key, row)],
            lambda system: self._workers[system].measure(name),
        )
        for system in row.medians:
            self._workers[system].finish(name)
        return row

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._workers.values():
            worker.close()

    def _systems_of(self, name: str) -> list[str]:
        if OURS_ALONE.search(name) is not None:
            return [key for key in self._systems if key == OURS]
        if C_API.search(name) is not None:
            return [key for key in self._systems if key in (OURS, "2.21")]
        if LIBRARY_ALONE.search(name) is not None:
            return [key for key in self._systems if key in (OURS, "torch")]
        without = {"torch"} if TORCH_ROWS.search(name) is None else set()
        if NOT_IN_221.search(name) is not None:
            without.add("2.21")
        if NOT_IN_115.search(name) is not None:
            without |= {"1.15", "torch"}
        return [key for key in self._systems if key not in without]

    def _prepare(self, system: str, row: Row) -> bool:
        if system not in self._workers:
            self._workers[system] = Worker(system)
        try:
            self._workers[system].prepare(row.workload)
        except WorkloadError as exc:
            row.failures.append(str(exc))
            return False
        return True

    def _measure(
        self, row: Row, systems: list[str], measure: Callable[[str], float]
    ) -> None:
        """Fills the row's medians. In turns: a busy moment then hits every system."""
        samples: dict[str, list[float]] = {system: [] for system in systems}
        for _ in range(self._repeats):
            for system in list(samples):
                try:
                    samples[system].append(measure(system))
                except WorkloadError as exc:
                    row.failures.append(str(exc))
                    del samples[system]
        row.medians = {key: statistics.median(times) for key, times in samples.items()}


def main(arguments: list[str]) -> int:
    """Measures, prints and writes what the command line asks for."""
    options = parse_arguments(arguments)
    console = Console()
    systems = [
        key for key in options.systems.split(",") if key == OURS or python_of(key)
    ]
    pattern = re.compile(options.only)
    chosen: list[Workload | ProcessWorkload] = [
        workload
        for name, workload in {
            **WORKLOADS,
            **PROCESS_WORKLOADS,
            **C_API_WORKLOADS,
        }.items()
        if pattern.search(name)
    ]
    machine = this_machine()
    console.print(machine, highlight=False)
    suite = Suite(systems, options.repeats)
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(chosen))
        for workload in chosen:
            progress.update(task, description=workload.name)
            rows.append(suite.run(workload))
            progress.advance(task)
    suite.close()
    print_rows(rows, console)
    if options.json:
        write_json(rows, machine, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
