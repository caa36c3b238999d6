"""The table of agreement: for the terminal, the data file, and the goldens."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from tests.peer.ops.harness import ASPECTS, Cell, OpResult, names_files
from tests.peer.ops.spec import SPECS

RECORDED = Path(__file__).resolve().parents[2] / "recorded"
AGREEMENT = RECORDED / "op_agreement.json"
GOLDENS = RECORDED / "op_goldens"
LARGEST_GOLDEN = 20_000  # bytes of JSON


def cell_words(op: str, name: str, cell: Cell) -> dict[str, str]:
    """For each aspect "equal", "differs", "unexplained" or "" (nothing to compare)."""
    words = {}
    for aspect in ASPECTS:
        if cell.differences.get(aspect):
            explained = bool(SPECS[op].reason(aspect, name))
            words[aspect] = "differs" if explained else "unexplained"
        else:
            words[aspect] = "equal" if aspect in cell.compared else ""
    return words


def merge(results: list[OpResult]) -> dict[str, OpResult]:
    """One result for each op (an op may have run with several seeds)."""
    merged: dict[str, OpResult] = {}
    for result in results:
        known = merged.setdefault(result.op, result)
        if known is result:
            continue
        for name, cell in result.cells.items():
            for aspect in cell.compared:
                known.cells[name].add(aspect, cell.differences.get(aspect, []))
    return merged


def agreement(results: list[OpResult]) -> dict[str, Any]:
    """What the data file holds."""
    ops: dict[str, Any] = {}
    for op, result in sorted(merge(results).items()):
        cells = {n: c for n, c in result.cells.items() if c.kernel and c.compared}
        if not cells:
            continue
        words = {name: cell_words(op, name, cell) for name, cell in cells.items()}
        red = {
            name: sorted(
                {SPECS[op].reason(a, name) for a, w in one.items() if is_red(w)}
            )
            for name, one in words.items()
            if any(map(is_red, one.values()))
        }
        ops[op] = {
            "tensorflow": result.version,
            "cells": sorted(words),
            **{aspect: summary(words, aspect) for aspect in ASPECTS},
            **({"red": red} if red else {}),
        }
    return {"ops": ops, "totals": totals(ops)}


def is_red(word: str) -> bool:
    """Whether it stands for a difference."""
    return word in ("differs", "unexplained")


def summary(words: dict[str, dict[str, str]], aspect: str) -> str:
    """One aspect over the cells of an op: "equal", "5/6", or "-"."""
    found = [one[aspect] for one in words.values() if one[aspect]]
    equal = found.count("equal")
    if not found:
        return "-"
    return "equal" if equal == len(found) else f"{equal}/{len(found)}"


def totals(ops: dict[str, Any]) -> dict[str, int]:
    """Counts over the table."""
    return {
        "ops": len(ops),
        "ops with values and shapes equal": sum(
            one["values"] in ("equal", "-") and one["shapes"] == "equal"
            for one in ops.values()
        ),
        "cells": sum(len(one["cells"]) for one in ops.values()),
        "green cells": sum(
            len(one["cells"]) - len(one.get("red", {})) for one in ops.values()
        ),
    }


def lines(data: dict[str, Any]) -> list[str]:
    """The table for the terminal."""
    head = f"{'op':40} {'cells':>5}  " + "".join(f"{a:12}" for a in ASPECTS) + "red"
    rows = [head]
    for op, one in data["ops"].items():
        aspects = "".join(f"{one[aspect]:12}" for aspect in ASPECTS)
        red = " ".join(one.get("red", {}))
        rows.append(f"{op:40} {len(one['cells']):>5}  {aspects}{red}".rstrip())
    for op, one in data["ops"].items():
        for cell, reasons in one.get("red", {}).items():
            rows.append(
                f"red: {op} {cell}: {'; '.join(filter(None, reasons)) or 'UNEXPLAINED'}"
            )
    counts = data["totals"]
    percent = 100 * counts["green cells"] / max(counts["cells"], 1)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    return [*rows, f"{told} ({percent:.1f} %)"]


# --- files ----------------------------------------------------------------------


def write_agreement(data: dict[str, Any]) -> None:
    """The data of the compatibility page; what did not run keeps what it had."""
    known = json.loads(AGREEMENT.read_text()) if AGREEMENT.exists() else {"ops": {}}
    ops = {
        op: one for op, one in {**known["ops"], **data["ops"]}.items() if op in SPECS
    }
    data = {"ops": ops, "totals": totals(ops)}
    AGREEMENT.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")


def write_goldens(results: list[OpResult]) -> None:
    """One case of each green cell, a file a family; what did not run stays."""
    families: dict[str, list[Any]] = {}
    for op, result in sorted(merge(results).items()):
        seen: set[str] = set()
        for golden in result.goldens:
            cell = golden["cell"]
            if cell in seen or result.cells[cell].differences:
                continue
            if names_files(golden["case"]):  # which are not there at the replay
                continue
            told = encode(op, golden)
            if len(json.dumps(told)) <= LARGEST_GOLDEN:
                seen.add(cell)
                families.setdefault(SPECS[op].family, []).append(told)
    GOLDENS.mkdir(exist_ok=True)
    for family, entries in families.items():
        path = GOLDENS / f"{family}.jsonl.gz"
        told = [json.dumps(entry, sort_keys=True) for entry in entries]
        told += [line for line in kept_lines(path) if did_not_run(line, results)]
        told.sort(key=lambda line: str(json.loads(line)["op"]))
        path.write_bytes(gzip.compress("\n".join(told).encode(), 9, mtime=0))


def kept_lines(path: Path) -> list[str]:
    """The lines of a file of goldens, if it is there."""
    if not path.exists():
        return []
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def did_not_run(line: str, results: list[OpResult]) -> bool:
    """Whether a golden is of an op that has a spec and is not in the results."""
    op = json.loads(line)["op"]
    return op in SPECS and all(result.op != op for result in results)


def encode(op: str, golden: dict[str, Any]) -> dict[str, Any]:
    """A golden as JSON: bytes are base64, tuples lists."""
    return {"op": op, **{key: to_json(value) for key, value in golden.items()}}


def to_json(value: Any) -> Any:
    """Plain data with bytes as {"b": base64}, tuples as {"t": [...]}."""
    if isinstance(value, bytes):
        return {"b": base64.b64encode(value).decode()}
    if isinstance(value, tuple):
        return {"t": [to_json(item) for item in value]}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {"d": {key: to_json(item) for key, item in value.items()}}
    return value


def from_json(value: Any) -> Any:
    """The reverse of `to_json`."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "b" in value:
        return base64.b64decode(value["b"])
    if "t" in value:
        return tuple(from_json(item) for item in value["t"])
    return {key: from_json(item) for key, item in value["d"].items()}


def read_goldens(path: Path) -> list[dict[str, Any]]:
    """The entries of a family."""
    entries = map(json.loads, kept_lines(path))
    return [{key: from_json(value) for key, value in one.items()} for one in entries]
