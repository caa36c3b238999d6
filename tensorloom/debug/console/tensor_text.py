"""Values as text: slices, ranges that are marked, a summary of numbers."""

from __future__ import annotations

import ast
import re
from typing import Any, Final

import numpy as np

from tensorloom.debug.console.commands import CommandError
from tensorloom.debug.dumps.event_files import InconvertibleTensorProto

_SLICE: Final = re.compile(r"^\[[-+\d:,. \t]*\]$")
_ALL: Final = 1 << 31
_MANY: Final = 1000  # elements from which on a value is shown in part


def parse_tensor_name_with_slicing(text: str) -> tuple[str, str]:
    """`y:0[1, :]` as ("y:0", "[1, :]"); the second is empty where there is none."""
    name, bracket, rest = text.partition("[")
    return (name, bracket + rest) if text.endswith("]") else (text, "")


def sliced(value: Any, slicing: str) -> Any:
    """A part of a value, as NumPy would give it for `value[...]`.

    Raises:
      CommandError: it is no slice, or the value has no such part.
    """
    if not slicing:
        return value
    if not _SLICE.match(slicing):
        raise CommandError(f"Invalid tensor-slicing string: {slicing}")
    parts = [_index(part.strip()) for part in slicing[1:-1].split(",")]
    try:
        return np.asarray(value)[tuple(parts)]
    except IndexError as error:
        raise CommandError(f"{slicing}: {error}") from None


def _index(text: str) -> Any:
    if text == "...":
        return Ellipsis
    try:
        bounds = [int(bound) if bound else None for bound in text.split(":")]
    except ValueError:
        raise CommandError(f"Invalid tensor-slicing string: [{text}]") from None
    return slice(*bounds) if len(bounds) > 1 else bounds[0]


def parse_ranges(text: str | None) -> list[tuple[float, float]]:
    """`[[-inf, -1], [1, inf]]`, `[0, 1]` or `0,1` as pairs of bounds.

    Raises:
      CommandError: it is none of these.
    """
    if not text:
        return []
    quoted = re.sub(r"(?<![\w'])([-+]?)(inf|nan)", r"\1'\2'", text.strip())
    try:
        found = ast.literal_eval(quoted.replace("-'", "'-").replace("+'", "'"))
        pairs = [found] if not isinstance(found[0], list | tuple) else found
        return [(float(low), float(high)) for low, high in pairs]
    except (ValueError, SyntaxError, TypeError, IndexError):
        raise CommandError(f"{text} is no list of ranges") from None


def tensor_text(
    value: Any,
    name: str,
    *,
    slicing: str = "",
    ranges: str | None = None,
    everything: bool = False,
    summary: bool = False,
) -> str:
    """A value with what is known of it.

    Args:
      value: an array, or an `InconvertibleTensorProto`.
      name: what it is called.
      slicing: the part that is shown, `[0, :]`.
      ranges: elements in them are marked by a `*` after the array.
      everything: show it whole, however large it is.
      summary: counts, extremes and moments.
    """
    head = f'Tensor "{name}{slicing}":'
    if isinstance(value, InconvertibleTensorProto):
        return f"{head}\n\n{value}"
    array = np.asarray(sliced(value, slicing))
    bounds = parse_ranges(ranges)
    marked = None
    if bounds:
        marked = _in_ranges(array, bounds)
        share = 100.0 * marked.sum() / max(1, array.size)
        head += (
            f" Highlighted({ranges}): {int(marked.sum())} of {array.size} element(s) "
            f"({share:.2f}%)"
        )
    lines = [head, f"  dtype: {array.dtype}", f"  shape: {array.shape}"]
    if summary:
        lines += ["", *summary_lines(array)]
    threshold = _ALL if everything else _MANY
    with np.printoptions(threshold=threshold):
        lines += ["", repr(array)]
    if marked is not None and marked.any():
        places = np.argwhere(marked)
        shown = places if everything else places[:20]
        lines += ["", "Highlighted at:"]
        lines += [f"  {list(map(int, p))}: {array[tuple(p)]}" for p in shown]
        if len(shown) < len(places):
            lines.append(f"  ... ({len(places) - len(shown)} more)")
    return "\n".join(lines)


def _in_ranges(array: Any, bounds: list[tuple[float, float]]) -> Any:
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise CommandError(f"There are no ranges of dtype {array.dtype}")
    found = np.zeros(array.shape, bool)
    for low, high in bounds:
        found |= (array >= low) & (array <= high)
    return found


def summary_lines(array: Any) -> list[str]:
    """A table of how many elements there are of which kind, and one of moments."""
    if array.dtype != bool and not np.issubdtype(array.dtype, np.number):
        return [
            f"No numeric summary available due to non-numeric dtype: {array.dtype}."
        ]
    if not array.size:
        return ["No numeric summary available due to empty tensor."]
    lines = ["Numeric summary:"]
    if array.dtype == bool:
        true = int(array.sum())
        counts = {"False": array.size - true, "True": true}
        return lines + _table({k: v for k, v in counts.items() if v}, array.size)
    nan, infinite = np.isnan(array), np.isinf(array)
    finite = ~nan & ~infinite
    parts = array.real if np.iscomplexobj(array) else array
    counts = {
        "nan": nan,
        "-inf": infinite & (parts < 0),
        "-": finite & (parts < 0),
        "0": finite & (parts == 0),
        "+": finite & (parts > 0),
        "+inf": infinite & (parts > 0),
    }
    found = {k: int(v.sum()) for k, v in counts.items()}
    lines += _table({k: v for k, v in found.items() if v}, array.size)
    valid = array[finite]
    if valid.size:
        moments = {
            "min": valid.min(),
            "max": valid.max(),
            "mean": valid.mean(),
            "std": valid.std(),
        }
        lines += _rows({k: str(v) for k, v in moments.items()})
    return lines


def _table(counts: dict[str, int], total: int) -> list[str]:
    return _rows({k: str(v) for k, v in {**counts, "total": total}.items()})


def _rows(cells: dict[str, str]) -> list[str]:
    widths = [max(len(name), len(value)) for name, value in cells.items()]
    return [
        "| "
        + " ".join(text.rjust(w) for text, w in zip(row, widths, strict=True))
        + " |"
        for row in (cells.keys(), cells.values())
    ]
