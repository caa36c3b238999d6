"""The builders of ops: functions from a node to the names of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site

# What a builder gives: the name of the only output, or those of all.
Built = str | Sequence[str]
Builder = Callable[["Site"], Built]
BUILDERS: Final[dict[str, Builder]] = {}


def builder(*ops: str) -> Callable[[Builder], Builder]:
    """Declares the builder of some ops."""

    def declare(function: Builder) -> Builder:
        for op in ops:
            BUILDERS[op] = function
        return function

    return declare
