"""Commands of several actions, such as `checkpoint show`, and their output."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tensorloom.cli.command import INTERRUPTED, Command

# Exit codes of all actions.
FINE = 0
PROBLEMS = 1
USAGE = 2


@dataclass(frozen=True)
class Action:
    """One action of a command."""

    name: str
    summary: str  # one line for the command's help
    add_arguments: Callable[[argparse.ArgumentParser], None]
    # Gets the parsed arguments, returns the exit status.
    execute: Callable[[argparse.Namespace], int]


def group(name: str, summary: str, actions: Sequence[Action]) -> Command:
    """A command with actions below it."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        subparsers = parser.add_subparsers(
            title="actions", metavar="ACTION", required=True
        )
        for action in actions:
            subparser = subparsers.add_parser(
                action.name, help=action.summary, description=action.summary
            )
            action.add_arguments(subparser)
            add_json(subparser)
            subparser.set_defaults(action=action)

    return Command(name, summary, add_arguments, lambda options: run(name, options))


def single(action: Action) -> Command:
    """A command that is one action."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        action.add_arguments(parser)
        add_json(parser)
        parser.set_defaults(action=action)

    return Command(
        action.name, action.summary, add_arguments, lambda options: run("", options)
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option that all actions have."""
    parser.add_argument(
        "--json", action="store_true", help="print the result as JSON, for programs"
    )


def run(command: str, options: argparse.Namespace) -> int:
    """Executes an action; what goes wrong is one line, and an exit code."""
    from tensorloom.framework import errors

    action: Action = options.action
    try:
        status = action.execute(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except (errors.NotFoundError, FileNotFoundError) as error:
        status, text = USAGE, _text(error)
    except (errors.OpError, OSError, ValueError, RuntimeError, KeyError) as error:
        status, text = PROBLEMS, _text(error)
    except KeyboardInterrupt:
        status, text = INTERRUPTED, "interrupted"
    if options.json:
        print(json.dumps({"error": text}))
    name = f"{command} {action.name}".strip()
    print(f"tensorloom {name}: {text}", file=sys.stderr)
    return status


def _text(error: BaseException) -> str:
    text = getattr(error, "message", None)
    if isinstance(text, str):
        return text
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    return str(error)


def show(options: argparse.Namespace, data: Any, lines: Iterator[str]) -> None:
    """Prints a result: as JSON if that was asked for, else as lines."""
    if options.json:
        print(json.dumps(data, indent=1, default=_plain))
        return
    for line in lines:
        print(line)


def _plain(value: Any) -> Any:
    """Arrays and bytes in JSON."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def table(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Rows in columns; numbers to the right."""
    if not rows:
        return
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row, cells in zip(rows, texts, strict=True):
        padded = [
            text.rjust(width) if isinstance(cell, int) else text.ljust(width)
            for cell, text, width in zip(row, cells, widths, strict=True)
        ]
        yield "  ".join(padded).rstrip()


@contextmanager
def progress(text: str, total: int | None) -> Iterator[Callable[[str, int], None]]:
    """A bar on the standard error output while that is a terminal.

    Gives a function that is told what is worked on, and how much was done since.
    """
    if not sys.stderr.isatty():
        yield lambda what, done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", style="dim"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(text, total=total, what="")
        yield lambda what, done: bar.update(task, advance=done, what=what[-40:])
