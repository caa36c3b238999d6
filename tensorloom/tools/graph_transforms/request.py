"""What a transform is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorloom.framework import errors


@dataclass(frozen=True, slots=True)
class Request:
    """The transform, the ends of the graph, and the parameters."""

    transform: str
    inputs: list[str]
    outputs: list[str]
    parameters: dict[str, list[str]]

    def one(self, name: str, default: str | None = None) -> str:
        """The value of a parameter. Raises InvalidArgumentError if it has to be given
        and is not, or is given twice."""
        values = self.parameters.get(name, [] if default is None else [default])
        if len(values) != 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{self.transform} expects exactly one value of {name}, not {values}",
            )
        return values[0]

    def flag(self, name: str) -> bool:
        """A parameter that is true or false; false if it is not given."""
        return self.one(name, "false").lower() in ("true", "1", "t")


# A function from a graph, which it may change, and a request to a graph.
Transform = Callable[[Any, Request], Any]
