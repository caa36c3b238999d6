"""What a transform is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework import errors

_TRUTHS: Final = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Request:
    """The transform, the ends of the graph, and the parameters."""

    transform: str
    inputs: list[str]
    outputs: list[str]
    parameters: dict[str, list[str]]

    def required(self, name: str, example: str) -> str:
        """The value of a parameter that has to be given.

        Raises:
          InvalidArgumentError: it is not given, or given twice.
        """
        values = self.parameters.get(name, [])
        if len(values) != 1:
            raise invalid(
                f"{self.transform} expects exactly one {name!r} argument, e.g. "
                f"{example}"
            )
        return values[0]

    def one(self, name: str, default: str) -> str:
        """The value of a parameter. Raises InvalidArgumentError if given twice."""
        values = self.parameters.get(name, [default])
        if len(values) != 1:
            raise invalid(
                f"Expected a single '{name}' parameter, but found {len(values)} "
                "occurrences"
            )
        return values[0]

    def flag(self, name: str, default: bool = False) -> bool:
        """A parameter that is true or false. Raises InvalidArgumentError if neither."""
        text = self.one(name, str(default).lower())
        if text not in _TRUTHS:
            raise invalid(
                f"Couldn't interpret the {name} argument as a boolean:{text} (expected "
                "true, false, 0 or 1)"
            )
        return _TRUTHS[text]

    def number(self, name: str, default: float) -> float:
        """A parameter that is a number. Raises InvalidArgumentError if it is none."""
        text = self.one(name, repr(default))
        try:
            return float(text)
        except ValueError:
            raise invalid(
                f"Couldn't interpret the {name} argument as a float number:{text}"
            ) from None

    def integer(self, name: str, default: int) -> int:
        """A parameter that is an integer. Raises InvalidArgumentError if it is none."""
        text = self.one(name, str(default))
        try:
            return int(text)
        except ValueError:
            raise invalid(
                f"Couldn't interpret the {name} argument as a number:{text}"
            ) from None


def invalid(message: str) -> errors.InvalidArgumentError:
    """The error of a transform that cannot be done."""
    return errors.InvalidArgumentError(None, None, message)


# A function from a graph, which it may change, and a request to a graph.
Transform = Callable[[Any, Request], Any]
