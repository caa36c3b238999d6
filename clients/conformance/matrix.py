"""The matrix of languages and cases, as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

# In the order of the columns.
COLUMNS = {
    "c": "C",
    "go": "Go",
    "javascript": "JavaScript",
    "cpp": "C++",
    "java": "Java",
    "rust": "Rust",
    "c-tf221": "C on TensorFlow 2.21",
    "c-tf115": "C on TensorFlow 1.15",
}
PROGRAMS = {
    "test": "tests of its own",
    "digits": "trains digits to 97 %",
    "saved-model": "runs a SavedModel",
}
_SIGNS = {"ok": "✓", "fail": "✗", "skip": "-"}
_BEGIN = "<!-- written by `make test-clients` from here on -->\n"


def _outcomes(output: str) -> dict[str, str]:
    lines = re.findall(r"^(ok|fail|skip) ([^\s:]+)", output, re.MULTILINE)
    return {name: _SIGNS[verdict] for verdict, name in lines}


def _cases(table: Path) -> list[str]:
    return re.findall(r"^case (\S+)", table.read_text(), re.MULTILINE)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def matrix(tables: list[Path], texts: dict[str, str]) -> str:
    """A table of counts, and one of every case.

    Args:
        tables: the files of cases.
        texts: what the suite printed, by the key of a column.
    """
    columns = [key for key in COLUMNS if key in texts]
    outcomes = {key: _outcomes(texts[key]) for key in columns}
    head = [COLUMNS[key] for key in columns]
    rule = _row(["---"] * (len(head) + 1))
    lines = [_row(["passed of each table", *head]), rule]
    for table in tables:
        cases = _cases(table)
        counts = [sum(outcomes[c].get(n) == "✓" for n in cases) for c in columns]
        name = f"{table.stem.replace('_', ' ')} ({len(cases)})"
        lines.append(_row([name, *map(str, counts)]))
    for program, title in PROGRAMS.items():
        lines.append(_row([title, *(outcomes[c].get(program, "") for c in columns)]))
    lines += ["", _row(["case", *head]), rule]
    for table in tables:
        lines += [
            _row([name, *(outcomes[c].get(name, "✗") for c in columns)])
            for name in _cases(table)
        ]
    return "\n".join(lines) + "\n"


def write_page(page: Path, text: str) -> None:
    """Renews what stands after the mark in a page."""
    above = page.read_text().split(_BEGIN)[0]
    page.write_text(f"{above}{_BEGIN}\n{text}")
