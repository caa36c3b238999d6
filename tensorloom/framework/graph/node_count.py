"""How many operations TensorFlow 1.15 would have made in a graph so far.

Where a graph has a seed, an op without one of its own takes this number
(`framework/runtime/random_seed.py`), so programs get TensorFlow's random numbers only
if it goes as TensorFlow's does. Every operation adds one to it. Where a builder makes
another number of operations than TensorFlow, it says how many TensorFlow makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class NodeCount:
    """The number, shared by a graph and the branches and loop bodies built in it."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    @contextmanager
    def made_as(self, nodes: int) -> Iterator[None]:
        """Whatever is made inside counts as `nodes` operations."""
        before = self.value
        yield
        self.value = before + nodes
