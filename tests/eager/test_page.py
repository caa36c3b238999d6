"""The example of docs/eager.md runs as written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "eager.md"


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {"__name__": "eager"})
    printed = capsys.readouterr().out.splitlines()
    assert printed == re.findall(r"print\(.*\)  # (.*)", block)
