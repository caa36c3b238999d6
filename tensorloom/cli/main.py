"""Entry point of the `tensorloom` command: finds the subcommand and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from tensorloom.cli import (
    audit,
    checkpoint,
    cluster,
    config,
    data,
    debug,
    explain,
    export,
    graph,
    hvdrun,
    optimize,
    records,
    run,
    serve,
    server,
    simulate,
    status,
    stream,
)
from tensorloom.cli.saved_models import command as saved_model_command

if TYPE_CHECKING:
    from tensorloom.cli.command import Command

# In the order of `tensorloom --help`. A command's module is small: what the command
# needs is imported when it runs.
COMMANDS: tuple[Command, ...] = (
    run.COMMAND,
    audit.COMMAND,
    explain.COMMAND,
    debug.COMMAND,
    checkpoint.COMMAND,
    saved_model_command.COMMAND,
    graph.COMMAND,
    optimize.FREEZE,
    optimize.OPTIMIZE,
    export.COMMAND,
    records.COMMAND,
    data.COMMAND,
    server.COMMAND,
    serve.COMMAND,
    stream.COMMAND,
    cluster.COMMAND,
    status.COMMAND,
    simulate.COMMAND,
    config.COMMAND,
    server.DASHBOARD,
    hvdrun.COMMAND,
)


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="tensorloom", description="The TensorFlow 1 system in Python."
    )
    version = f"tensorloom {_version()}"
    parser.add_argument("--version", action="version", version=version)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        subparser = subparsers.add_parser(
            command.name, help=command.summary, description=command.summary
        )
        command.add_arguments(subparser)
        subparser.set_defaults(execute=command.execute)
    return parser


def _version() -> str:
    try:
        return metadata.version("tensorloom")
    except metadata.PackageNotFoundError:
        return "of a source tree that is not installed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status.

    `arguments` are those after the program's name; `sys.argv`'s if None.
    """
    parser = make_parser()
    options = parser.parse_args(arguments)
    if "execute" not in options:
        parser.print_help(sys.stderr)
        return 2
    status: int = options.execute(options)
    return status
