"""The writers of ops: functions from a node to expressions for its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.deploy.torchscript.source import Line

# What a writer gives: the expression of the only output, or those of all.
Written = str | Sequence[str]
Writer = Callable[["Line"], Written]
WRITERS: Final[dict[str, Writer]] = {}


def writer(*ops: str) -> Callable[[Writer], Writer]:
    """Declares the writer of some ops."""

    def declare(function: Writer) -> Writer:
        for op in ops:
            WRITERS[op] = function
        return function

    return declare
