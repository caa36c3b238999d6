"""Trains the examples and compares what they reach with what they promise.

Usage: python tools/train_examples.py [--only REGEX]

An example is a program in a folder of `examples/` whose docstring has a line such as
`Quality: test accuracy at least 0.95`, and the command that runs it. It prints what it
reached as `test accuracy: 0.9712`. One that falls short, or fails, makes this fail.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[1]
_QUALITY = re.compile(r"^Quality: (.+) (at least|at most) ([\d.]+)$", re.MULTILINE)
_COMMAND = re.compile(r"^ +tensorloom (.+)$", re.MULTILINE)
_LAST_LINES = 30  # of a program that failed


@dataclass(frozen=True)
class Example:
    """What the docstring of an example says."""

    path: Path  # of the program, below the repository
    arguments: tuple[str, ...]  # of the command `tensorloom`
    measure: str  # the words before the number that it prints
    at_least: bool  # whether more is better
    bound: float

    @property
    def name(self) -> str:
        """Its path below `examples/`, without the ending."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def promise(self) -> str:
        """The quality that is promised, in words."""
        sense = "at least" if self.at_least else "at most"
        return f"{self.measure} {sense} {self.bound:g}"

    def is_met_by(self, value: float) -> bool:
        """Whether the value is as good as promised; NaN is not."""
        return value >= self.bound if self.at_least else value <= self.bound

    def found_in(self, output: str) -> float:
        """The last value that the program printed.

        Raises:
          ValueError: there is none.
        """
        # A cluster writes the name of the task before it.
        values = re.findall(rf"\b{self.measure}: (\S+)$", output, re.MULTILINE)
        if not values:
            raise ValueError(f"{self.path} prints no line '{self.measure}: NUMBER'")
        return float(values[-1])


def read_example(path: Path) -> Example | None:
    """The example in a file; None for a module that promises nothing.

    Raises:
      ValueError: there is a promise, but no command.
    """
    doc = ast.get_docstring(ast.parse(path.read_text())) or ""
    quality = _QUALITY.search(doc)
    if quality is None:
        return None
    command = _COMMAND.search(doc)
    if command is None:
        raise ValueError(f"the docstring of {path} has no line '    tensorloom ...'")
    measure, sense, bound = quality.groups()
    return Example(
        path.relative_to(REPOSITORY),
        tuple(shlex.split(command[1])),
        measure,
        sense == "at least",
        float(bound),
    )


def all_examples() -> list[Example]:
    """The examples, by their paths."""
    paths = sorted((REPOSITORY / "examples").glob("*/*.py"))
    return [found for path in paths if (found := read_example(path)) is not None]


@dataclass(frozen=True)
class Outcome:
    """What became of an example."""

    output: str
    status: int  # of the process
    seconds: float
    processor_seconds: float


def run_example(example: Example, extra: tuple[str, ...] = ()) -> Iterator[str]:
    """Runs an example in an empty directory: yields its lines, returns the Outcome."""
    program = str(example.path)
    arguments = [
        str(REPOSITORY / a) if a == program else a for a in example.arguments
    ] + [*extra]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    path = [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    began, used = time.perf_counter(), _processor_seconds()
    lines = []
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-m", "tensorloom", *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            yield line.rstrip("\n")
    return Outcome(
        "".join(lines),
        process.returncode,
        time.perf_counter() - began,
        _processor_seconds() - used,
    )


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _train(example: Example, console: Console, table: Table) -> bool:
    """Adds the row of an example; returns whether it is as good as promised."""
    lines = run_example(example)
    with console.status(example.name) as status:
        while True:
            try:
                line = next(lines)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                break
            status.update(f"{example.name}  [dim]{line[:60]}[/]")
    value = "-"
    met = False
    if outcome.status == 0:
        reached = example.found_in(outcome.output)
        value, met = f"{reached:.4g}", example.is_met_by(reached)
    else:
        last = outcome.output.splitlines()[-_LAST_LINES:]
        console.print(*last, sep="\n", markup=False, highlight=False)
    console.print(
        f"{'fine' if met else 'NOT MET':8}{example.name}: {value}, "
        f"{example.promise} ({outcome.seconds:.0f} s)",
        highlight=False,
    )
    table.add_row(
        example.name,
        f"[green]{value}[/]" if met else f"[bold red]{value}[/]",
        example.promise,
        f"{outcome.seconds:.1f} s",
        f"{outcome.processor_seconds:.1f} s",
    )
    return met


def main() -> int:
    """Trains what was asked for; 1 if any example is not as good as promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="regex for names of examples")
    options = parser.parse_args()
    chosen = [e for e in all_examples() if re.search(options.only, e.name)]
    if not chosen:
        parser.error(f"no example is called like {options.only!r}")
    console = Console()
    table = Table("example", "reached", "promised", "time", "processor")
    short = [e.name for e in chosen if not _train(e, console, table)]
    console.print(table)
    if short:
        console.print(f"[bold red]fell short or failed:[/] {', '.join(short)}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
