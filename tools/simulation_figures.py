"""Draws the figures of docs/simulation.md: what steps take on simulated clusters.

make simulation-figures            # all; minutes
python tools/simulation_figures.py --data FILE    # measures what is not in FILE
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, Final

from tensorloom.simulate.backup_workers import run_synchronous_steps
from tensorloom.simulate.null_steps import DENSE, SCALAR, SPARSE, run_null_steps
from tools.line_chart import Axis, draw

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
_WORKERS: Final = (1, 2, 5, 10, 25, 50, 100)
_SYNCHRONOUS: Final = 50
_BACKUPS: Final = range(6)


class Measured:
    """What was measured, in a file or in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, float] = {}
        if path is not None and path.exists():
            self._values = json.loads(path.read_text())

    def value(self, name: str, measure: Any) -> float:
        """A value; it is measured if it is not there."""
        if name not in self._values:
            began = time.monotonic()
            self._values[name] = measure()
            took = time.monotonic() - began
            print(f"{name}: {self._values[name]:.6f} s ({took:.0f} s)", flush=True)
            if self._path is not None:
                self._path.write_text(json.dumps(self._values, indent=1))
        return self._values[name]


def draw_null_steps(measured: Measured) -> str:
    """Figure 6 of the paper: steps that compute nothing."""
    lines = {}
    for parameters in (SCALAR, DENSE, SPARSE):
        points = []
        for workers in _WORKERS:
            step_s = measured.value(
                f"null step, {parameters.name}, {workers} workers",
                lambda p=parameters, w=workers: run_null_steps(p, w).step_s,
            )
            points.append((workers, 1 / step_s))
        lines[parameters.name] = points
    return draw(
        "Null steps: 16 parameter servers",
        Axis("workers", _WORKERS, is_log=True),
        Axis("steps a second of each worker", (1, 10, 100, 1000), is_log=True),
        lines,
    )


def draw_backup_workers(measured: Measured) -> str:
    """Figure 8 of the paper: the time of a synchronous step, and its worth."""
    times = [
        measured.value(
            f"synchronous step, {backups} backup workers",
            lambda b=backups: run_synchronous_steps(_SYNCHRONOUS, b, steps=25),
        )
        for backups in _BACKUPS
    ]
    worth = [
        (b, times[0] / times[b] * _SYNCHRONOUS / (_SYNCHRONOUS + b)) for b in _BACKUPS
    ]
    return draw(
        f"Synchronous steps: {_SYNCHRONOUS} workers and backup workers",
        Axis("backup workers", tuple(_BACKUPS)),
        Axis("seconds a step; speedup", (0.0, 0.5, 1.0, 1.5, 2.0, 2.5)),
        {
            "a step (s)": list(enumerate(times)),
            "speedup by all workers": worth,
        },
    )


def main() -> None:
    """Measures, and writes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a file that keeps what was measured")
    measured = Measured(parser.parse_args().data)
    figures = {
        "simulated-backup-workers.svg": draw_backup_workers,
        "simulated-null-steps.svg": draw_null_steps,
    }
    for name, figure in figures.items():
        (IMAGES / name).write_text(figure(measured))


if __name__ == "__main__":
    main()
