"""The op types of classic control flow, each with its form for references."""

from __future__ import annotations

from typing import Final

SWITCHES: Final = frozenset(["Switch", "RefSwitch"])
MERGES: Final = frozenset(["Merge", "RefMerge"])
ENTERS: Final = frozenset(["Enter", "RefEnter"])
EXITS: Final = frozenset(["Exit", "RefExit"])
NEXT_ITERATIONS: Final = frozenset(["NextIteration", "RefNextIteration"])
