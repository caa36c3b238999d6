"""The commands of a step that stands still: go on, look at values, change one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.debug.console.analyzer import Filters, add_tensor_arguments, print_value
from tensorloom.debug.console.commands import (
    Command,
    CommandError,
    CommandExit,
    CommandTable,
    parser,
)
from tensorloom.debug.console.tensor_text import parse_tensor_name_with_slicing
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.debug.stepper import Stepper, Stop


class StepCommands:
    """Answers commands about a stepper; the one that ends its step leaves."""

    def __init__(self, stepper: Stepper, filters: Filters) -> None:
        self._stepper = stepper
        self._filters = filters

    def add_to(self, table: CommandTable) -> None:
        """Adds the commands to a table."""
        step = parser("step", "Go on to the next value.")
        step.add_argument("-t", "--times", type=int, default=1, help="by so many")
        table.add(Command(step, self._step, ("s",)))
        until = parser("until", "Go on to a value.")
        until.add_argument("name", nargs="?", help="regular expression of its name")
        until.add_argument("-f", "--tensor_filter", help="one that passes a filter")
        until.add_argument(
            "-i", "--iteration", type=int, help="of the innermost loop, from 0"
        )
        table.add(Command(until, self._until, ("u",)))
        where = parser("where", "Say where the step stands.")
        table.add(Command(where, lambda asked: self._told(), ("w",)))
        value = parser("print_tensor", "Print the value where the step stands.")
        add_tensor_arguments(value, is_named=False)
        table.add(Command(value, self._print, ("pt",)))
        change = parser("change", "Give those who take the value another one.")
        change.add_argument(
            "expression", help='Python, with np and value: "np.zeros_like(value)"'
        )
        table.add(Command(change, self._change, ("c",)))
        finish = parser("finish", "Run to the end.")
        table.add(Command(finish, self._finish, ("f",)))

    def _stop(self) -> Stop:
        stop = self._stepper.stop
        if stop is None:
            raise CommandError("The step has not begun: use step, or until")
        return stop

    def _told(self) -> str:
        if self._stepper.is_over:
            self._finish(None)
        stop = self._stop()
        value = np.asarray(stop.value)
        return f"{stop}\n  dtype: {value.dtype}\n  shape: {value.shape}"

    def _step(self, asked: argparse.Namespace) -> str:
        self._guarded(lambda: self._stepper.step(asked.times))
        return self._told()

    def _until(self, asked: argparse.Namespace) -> str:
        if (asked.name is None) == (asked.tensor_filter is None):
            raise CommandError("Until what? Give a name, or -f and a filter")
        if asked.tensor_filter and asked.tensor_filter not in self._filters:
            raise CommandError(
                f'There is no tensor filter named "{asked.tensor_filter}".'
            )
        condition = asked.name or self._filters[asked.tensor_filter]
        self._guarded(lambda: self._stepper.until(condition, asked.iteration))
        return self._told()

    def _print(self, asked: argparse.Namespace) -> str:
        stop = self._stop()
        _, slicing = parse_tensor_name_with_slicing(asked.tensor_name)
        return print_value(asked, stop.value, stop.tensor_name, slicing)

    def _change(self, asked: argparse.Namespace) -> str:
        stop = self._stop()
        try:
            # The debugger's user is the one whose program this is.
            new = eval(asked.expression, {"np": np, "value": stop.value})
            self._stepper.change(new)
        except Exception as error:
            raise CommandError(f"{type(error).__name__}: {error}") from None
        return f"{stop.tensor_name} is now\n{np.asarray(new)!r}"

    def _finish(self, asked: argparse.Namespace | None) -> str:
        self._guarded(self._stepper.finish)
        raise CommandExit(self._stepper.finish())

    @staticmethod
    def _guarded(go_on: Any) -> None:
        """Goes on; an error of the step is its result, as after other debugged runs."""
        try:
            go_on()
        except errors.OpError as error:
            print(f"{type(error).__name__}: {error}")
            raise CommandExit(error) from None
