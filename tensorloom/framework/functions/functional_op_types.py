"""The op types of functional control flow and calls, whose bodies are functions."""

from __future__ import annotations

from typing import Final

LOOPS: Final = frozenset(["While", "StatelessWhile"])
CALLS: Final = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
IFS: Final = frozenset(["If", "StatelessIf"])
CASES: Final = frozenset(["Case", "StatelessCase"])
BRANCHES: Final = IFS | CASES
