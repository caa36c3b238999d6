"""Random functions with loops, conditions and jumps, as text."""

from __future__ import annotations

import random


class ProgramWriter:
    """Writes functions `f(a, b, n)` of integers that always end.

    Args:
      seed: the same seed gives the same functions.
      with_returns: whether there are `return`s before the end, which TensorFlow's loops
        cannot have.
    """

    def __init__(self, seed: int, with_returns: bool) -> None:
        self._random = random.Random(seed)
        self._with_returns = with_returns
        self._counters = 0

    def function(self) -> str:
        """The source of one function."""
        self._counters = 0
        body = self._block(depth=0, in_loop=False)
        lines = ["def f(a, b, n):", "    c = 0", "    d = 1"]
        lines += [f"    {line}" for line in body]
        return "\n".join([*lines, "    return a, b, c, d", ""])

    def _block(self, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 3)):
            lines += self._statement(depth, in_loop)
        return lines

    def _statement(self, depth: int, in_loop: bool) -> list[str]:
        kinds = ["assign", "assign", "augment"]
        if depth < 3:
            kinds += ["if", "if", "if", "while", "for"]
        if in_loop:
            kinds += ["break", "continue"]
        if self._with_returns and depth:
            kinds.append("return")
        kind = self._random.choice(kinds)
        if kind == "assign":
            return [f"{self._variable()} = {self._expression()}"]
        if kind == "augment":
            operator = self._random.choice(["+=", "-="])
            return [f"{self._variable()} {operator} {self._expression()}"]
        if kind == "return":
            return ["return a, b, c, d"]
        if kind in ("break", "continue"):
            return [f"if {self._test()}:", f"    {kind}"]
        if kind == "if":
            return self._if(depth, in_loop)
        return self._loop(kind, depth)

    def _if(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self._test()}:", *self._inner(depth, in_loop)]
        if self._random.random() < 0.5:
            lines += ["else:", *self._inner(depth, in_loop)]
        return lines

    def _loop(self, kind: str, depth: int) -> list[str]:
        self._counters += 1
        counter = f"i{self._counters}"
        if kind == "for":
            lines = [f"for {counter} in range(n):", *self._inner(depth, True)]
        else:
            lines = [
                f"{counter} = 0",
                f"while {counter} < n and {self._test()}:",
                f"    {counter} += 1",
                *self._inner(depth, True),
            ]
        if self._random.random() < 0.3:
            lines += ["else:", *self._inner(depth, False)]
        return lines

    def _inner(self, depth: int, in_loop: bool) -> list[str]:
        return [f"    {line}" for line in self._block(depth + 1, in_loop)]

    def _variable(self) -> str:
        return self._random.choice("abcd")

    def _expression(self) -> str:
        left = self._random.choice([*"abcdn", "1", "2"])
        right = self._random.choice([*"abcdn", "1", "3"])
        operator = self._random.choice(["+", "-"])
        if self._random.random() < 0.2:
            return f"({left} {operator} {right} if {self._test()} else {left})"
        return f"({left} {operator} {right}) % 7"

    def _test(self) -> str:
        one = f"{self._random.choice('abcd')} < {self._random.choice('abcdn')}"
        other = f"{self._random.choice('abcd')} > {self._random.randint(0, 4)}"
        return self._random.choice(
            [one, other, f"not {one}", f"{one} and {other}", f"({one} or {other})"]
        )
