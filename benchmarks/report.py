"""The table of results, on the terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from benchmarks.processes import OURS

if TYPE_CHECKING:
    from rich.console import Console


@dataclass
class Row:
    """The medians of one workload."""

    workload: str
    # Of the ratio; None where `limit` is what must be kept.
    target: float | None
    unit: str = "seconds"
    # Our time must not be above this; None where `target` is what must be kept.
    limit: float | None = None
    # By system; what is absent was not measured (or failed, see `failures`).
    medians: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    # Whether TensorFlow has no such thing, and a library is what it is compared with.
    has_library_alone: bool = False

    @property
    def ours(self) -> float | None:
        """Our time."""
        return self.medians.get(OURS)

    @property
    def tensorflow(self) -> float | None:
        """The faster TensorFlow's time."""
        times = [self.medians[key] for key in ("1.15", "2.21") if key in self.medians]
        return min(times, default=None)

    @property
    def ratio(self) -> float | None:
        """Our time divided by the faster TensorFlow's, or by the plain library's."""
        other = self.tensorflow
        if other is None and self.has_library_alone:
            other = self.medians.get("torch")
        if self.ours is None or other is None:
            return None
        return self.ours / other

    def as_json(self) -> dict[str, object]:
        """The row as it is written to the file."""
        return {
            "workload": self.workload,
            "ours": self.ours,
            "tensorflow": self.tensorflow,
            "ratio": self.ratio,
            "target": self.target,
            "limit": self.limit,
            "unit": self.unit,
            "medians": self.medians,
            "failures": self.failures,
        }


def amount(value: float | None, unit: str = "seconds") -> str:
    """A figure with three digits and the unit that suits it."""
    if value is None:
        return "-"
    if unit == "times":
        return f"{value:.3g} x"
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB"
    for scale, name in ((1.0, "s"), (1e-3, "ms")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value * 1e6:.3g} us"


def print_rows(rows: list[Row], console: Console) -> None:
    """The table, and below it what failed."""
    table = Table(
        title="medians; ratio = tensorloom / the faster TensorFlow, or library"
    )
    table.add_column("workload")
    for title in ("tensorloom", "TF 2.21", "TF 1.15", "library", "ratio", "target", ""):
        table.add_column(title, justify="right")
    for row in rows:
        columns = [row.medians.get(key) for key in (OURS, "2.21", "1.15", "torch")]
        table.add_row(
            row.workload,
            *[amount(value, row.unit) for value in columns],
            "-" if row.ratio is None else f"{row.ratio:.3f}",
            amount(row.limit, row.unit) if row.target is None else f"{row.target:.2f}",
            _mark(row),
        )
    console.print(table)
    for row in rows:
        for failure in row.failures:
            console.print(f"[red]{row.workload}[/red]: ", end="")
            # The whole traceback stands in the JSON file.
            last = failure.strip().splitlines()[-1]
            console.print(last, markup=False, highlight=False)


def _mark(row: Row) -> str:
    measured, most = row.ratio, row.target
    if most is None:
        measured, most = row.ours, row.limit
    if measured is None or most is None:
        return "?"
    return "[green]pass[/green]" if measured <= most else "[red]miss[/red]"


def write_json(rows: list[Row], machine: str, path: Path) -> None:
    """Writes the rows of a run on `machine`; times are seconds."""
    run = {"machine": machine, "rows": [row.as_json() for row in rows]}
    path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
