"""The op types of functional control flow, whose bodies are functions."""

from __future__ import annotations

from typing import Final

LOOPS: Final = frozenset(["While", "StatelessWhile"])
BRANCHES: Final = frozenset(["If", "StatelessIf", "Case", "StatelessCase"])
