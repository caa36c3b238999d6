"""Where in a program something was made."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework.graph import source

PROGRAM = """
made = [capture()]
for _ in range(2): made.append(capture())
made.append(outer(
    lambda:
        capture(),
))
"""


@pytest.mark.parametrize("others", [0, 5000])
def test_lines(others: int) -> None:
    lines_between = "outer\n" * others
    text = f"{lines_between}{PROGRAM}{lines_between}made.append(capture())\n"
    namespace: dict[str, Any] = {"capture": source.capture, "outer": lambda f: f()}
    exec(compile(text, "program.py", "exec"), namespace)
    made: list[source.Stack] = namespace["made"]
    first = others + 2
    lines = [first, first + 1, first + 1, first + 4, first + 6 + others]
    assert [source.describe(s) for s in made] == [f"program.py:{n}" for n in lines]
    inner = source.summary(made[3])[-1]
    assert inner[:3] == ("program.py", first + 4, "<lambda>")
    assert source.describe(()) is None
