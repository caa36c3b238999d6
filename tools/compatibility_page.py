"""Writes docs/compatibility.md from the registries of ops, gradients and kernels.

Usage: python tools/compatibility_page.py FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorloom.framework import export
from tensorloom.framework.registry import (
    gradient_registry,
    op_kernel,
    op_registry,
    proto_names,
)
from tensorloom.worker.compile.emitter import STRUCTURE

HEAD = """\
# Compatibility

What there is of TensorFlow 1.15, by its names. The names, signatures, static shapes,
node names, results and errors are TensorFlow's; `make test-peer` compares them.
Made by `make docs` from the registries; do not edit.

- *gradient*: yes; none = explicitly not differentiable; - = asking for it is an error.
- *CPU*, *GPU*: where a kernel runs. *host*: also computed by a NumPy kernel while the
  value is small and lives in host memory. *compiled*: the executor turns the node into
  code of its own (control flow, function arguments, transfers) instead of calling a
  kernel. - = the graph can be built, imported and placed, but not run yet.

## Operations

| operation | inputs -> outputs | gradient | kernels | what it does |
| --- | --- | --- | --- | --- |
"""
_RECORDED = Path(__file__).parents[1] / "tests" / "recorded"
AGREEMENT = _RECORDED / "op_agreement.json"
CONTRIB = _RECORDED / "api_contrib_1_15.json"
CONTRIB_HEAD = """\
## tf.contrib

Each package of TensorFlow 1.15's `tf.contrib`: whole, part (with what is missing), or
none yet. What is missing raises `AttributeError` when it is used.

| package | names | missing |
| --- | --- | --- |
"""
AGREEMENT_HEAD = """\
## Agreement with TensorFlow

Random cases of each operation run in TensorFlow and here, for each dtype for which
TensorFlow has a CPU kernel: values and their dtypes; static shapes, with known, partly
known and unknown input shapes; gradients; and what invalid inputs raise, when the
graph is built or when it runs. `make test-peer` does it again
([tests/peer/ops](../tests/peer/ops/README.md)). *equal*: in all dtypes; *m/n*: in m of
n dtypes; -: nothing to compare.

{ops} operations, of which {ops_with_values_and_shapes_equal} agree in all values and
shapes; {green_cells} of {cells} pairs of operation and dtype ({percent:.1f} %) agree in
everything.

| operation | TensorFlow | dtypes | values | shapes | gradient | errors |
| --- | --- | --- | --- | --- | --- | --- |
{rows}
What differs, and why:

{red}"""


def page() -> str:
    """The whole page."""
    # The package's import fills the op registry, the loaders fill the kernel registry.
    import tensorloom

    assert tensorloom
    op_kernel.load_host_kernels()
    op_kernel.load_torch_kernels()
    ops = sorted(op_registry.registered_ops().items())
    rows = "".join(_row(op) for _, op in ops)
    parts = (_agreement(), _contrib(), _names())
    return f"{HEAD}{rows}\n{len(ops)} operations.\n\n" + "\n".join(parts)


def _contrib() -> str:
    """A line for each package of tf.contrib."""
    ours = set(export.names())
    packages: dict[str, list[str]] = {}
    for name in json.loads(CONTRIB.read_text(encoding="utf-8")):
        package, _, _ = name.rpartition(".")
        packages.setdefault(package, []).append(name)
    rows = []
    for package, names in sorted(packages.items()):
        missing = [n.rpartition(".")[2] for n in names if n not in ours]
        if len(missing) == len(names):
            told = "none yet"
        elif missing:
            told = ", ".join(missing)
        else:
            told = "whole"
        rows.append(f"| `tf.{package}` | {len(names)} | {told} |\n")
    return CONTRIB_HEAD + "".join(rows)


def _agreement() -> str:
    """What the harness of tests/peer/ops found when it was recorded last."""
    data = json.loads(AGREEMENT.read_text(encoding="utf-8"))
    rows = "".join(_agreement_row(op, one) for op, one in data["ops"].items())
    counts = data["totals"]
    percent = 100 * counts["green cells"] / counts["cells"]
    red = "".join(
        f"- `{op}`, {', '.join(cells)}: {reason}.\n"
        for op, one in data["ops"].items()
        for reason, cells in _reasons(one).items()
    )
    return AGREEMENT_HEAD.format(percent=percent, rows=rows, red=red, **_plain(counts))


def _plain(counts: dict[str, int]) -> dict[str, int]:
    return {name.replace(" ", "_"): count for name, count in counts.items()}


def _agreement_row(op: str, one: dict[str, Any]) -> str:
    cells = ", ".join(one["cells"]) if one["cells"] != ["-"] else ""
    aspects = (one[aspect] for aspect in ("values", "shapes", "gradient", "errors"))
    return f"| `{op}` | {one['tensorflow']} | {cells} | {' | '.join(aspects)} |\n"


def _reasons(one: dict[str, Any]) -> dict[str, list[str]]:
    """The red cells of an op by their explanation."""
    found: dict[str, list[str]] = {}
    for cell, reasons in one.get("red", {}).items():
        told = "; ".join(filter(None, reasons)) or "not explained"
        found.setdefault(told, []).append(cell)
    return found


def _names() -> str:
    """The public names, a line for each module."""
    names = [*export.names(), *proto_names.message_names()]
    modules: dict[str, list[str]] = {}
    for name in sorted(names):
        module, _, last = name.rpartition(".")
        modules.setdefault(f"tf.{module}".rstrip("."), []).append(last)
    lines = [f"**{module}**: {', '.join(lasts)}\n" for module, lasts in modules.items()]
    return f"## Names\n\n{len(names)} public names.\n\n" + "\n".join(lines)


def _row(op: op_registry.OpDef) -> str:
    cells = (f"`{op.name}`", _signature(op), _gradient(op), _kernels(op), _summary(op))
    return f"| {' | '.join(cells)} |\n"


def _signature(op: op_registry.OpDef) -> str:
    inputs = ", ".join(_arguments(op.inputs))
    outputs = ", ".join(_arguments(op.outputs))
    return f"({inputs}) -> ({outputs})"


def _arguments(args: tuple[op_registry.ArgDef, ...]) -> Iterator[str]:
    for arg in args:
        yield arg.name + ("..." if arg.is_list else "")


def _gradient(op: op_registry.OpDef) -> str:
    try:
        return "none" if gradient_registry.find_gradient(op.name) is None else "yes"
    except LookupError:
        return "-"


def _kernels(op: op_registry.OpDef) -> str:
    kernels = op_kernel.registered_kernels(op.name)
    places = {device for kernel in kernels for device in kernel.devices}
    words = sorted(places)
    if any(kernel.host for kernel in kernels):
        words.append("host")
    return ", ".join(words) or ("compiled" if op.name in STRUCTURE else "-")


def _summary(op: op_registry.OpDef) -> str:
    first = op.doc.strip().split("\n")[0]
    return first.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Writes the page into the file named by the only argument."""
    (path,) = arguments
    Path(path).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
