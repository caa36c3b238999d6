"""What a subcommand of the command line consists of."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

INTERRUPTED = 130  # what a shell reports after Ctrl-C


@dataclass(frozen=True)
class Command:
    """One subcommand."""

    # What the user types.
    name: str
    # One line for `tensorloom --help`.
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    # Gets the parsed arguments, returns the exit status.
    execute: Callable[[argparse.Namespace], int]
