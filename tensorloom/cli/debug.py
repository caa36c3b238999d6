"""`tensorloom debug DIRECTORY`: a command line over what a debugged run dumped."""

from __future__ import annotations

import argparse

from tensorloom.cli.actions import FINE, Action, single


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIRECTORY", help="of one run, as run_... directories are"
    )
    parser.add_argument(
        "--ui_type",
        choices=["curses", "readline"],
        default="curses",
        help="the whole screen of a terminal, or lines of text",
    )
    parser.add_argument(
        "--novalidate_graph",
        action="store_true",
        help="also dumps that are not whole, as after an error",
    )


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.debug.console.interfaces import show_dump

    show_dump(options.directory, options.ui_type, not options.novalidate_graph)
    return FINE


COMMAND = single(
    Action(
        "debug",
        "look at the dump of a debugged run: tensors, nodes, source lines",
        _add_arguments,
        _execute,
    )
)
