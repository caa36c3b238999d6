"""How a report writes numbers, and what it explains at the top.

The texts of the explanations are short ones of our own; the layout of all that follows
is TensorFlow's, which scripts read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

# What can be selected, in the order of a line: (selected name, title, explanation).
_EXPLANATIONS: Final = {
    "bytes": "requested bytes: what the operation asked for, added up.",
    "peak_bytes": "peak bytes: the most that the operation held at one time.",
    "residual_bytes": "residual bytes: what it still holds after it is done.",
    "output_bytes": "output bytes: the size of its outputs.",
    "micros": "total execution time: on accelerators and CPUs together.\n"
    "cpu execution time: from start to end, waiting included.\n"
    "accelerator execution time: what the accelerator measured.",
    "accelerator_micros": "accelerator execution time: what the accelerator measured.",
    "cpu_micros": "cpu execution time: from start to end, waiting included.",
    "params": "param: how many numbers the variable has.",
    "float_ops": "flops: floating-point operations, from the shapes.",
    "tensor_value": "tensor_value: not shown.",
    "device": "device: where the operation is placed.",
    "op_types": "op_types: the op, the device, and what the user calls it.",
    "occurrence": "occurrence: how often it is there, and how often it ran.",
    "input_shapes": "input shape: the shapes of its inputs.",
}
_VIEWS: Final = {
    "scope": "scope: nodes by the scopes of their names.",
    "graph": "graph: nodes by what they take their inputs from.",
    "code": "code: lines of Python, by which called which.",
    "op": "op: nodes of one op together.",
}


def heading(view: str, select: Iterable[str]) -> str:
    """What the report is about."""
    lines = [_EXPLANATIONS.get(name, f"Unknown select: {name}") for name in select]
    return "\n".join(("\nDoc:", _VIEWS[view], *lines)) + "\n\nProfile:\n"


def titles(select: frozenset[str], names: Sequence[tuple[str, str]]) -> str:
    """The line above the nodes: what the numbers are."""
    chosen = [title for name, title in names if is_selected(name, select)]
    return f"node name | {' | '.join(chosen)}\n"


def is_selected(name: str, select: frozenset[str]) -> bool:
    """Whether a line has it. All times go before the time on one kind of device."""
    if name in ("accelerator_micros", "cpu_micros"):
        return name in select and "micros" not in select
    return name in select


def number(value: int) -> str:
    """1.50k, 2.00m, 3.00b."""
    for size, unit in ((1e9, "b"), (1e6, "m"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return str(value)


def time(micros: int) -> str:
    """5us, 1.50ms, 2.00sec."""
    for size, unit in ((1e6, "sec"), (1e3, "ms")):
        if micros >= size:
            return f"{micros / size:.2f}{unit}"
    return f"{micros}us"


def memory(size: int) -> str:
    """5B, 1.50KB, 2.00MB."""
    for unit_size, unit in ((1e6, "MB"), (1e3, "KB")):
        if size >= unit_size:
            return f"{size / unit_size:.2f}{unit}"
    return f"{size}B"
