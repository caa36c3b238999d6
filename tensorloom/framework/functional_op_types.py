"""The op types of functional control flow and calls, whose bodies are functions."""

from __future__ import annotations

from typing import Final

LOOPS: Final = frozenset(["While", "StatelessWhile"])
CALLS: Final = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
BRANCHES: Final = frozenset(["If", "StatelessIf", "Case", "StatelessCase"])
