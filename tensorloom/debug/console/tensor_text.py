"""Values as text: slices, ranges that are marked, a summary of numbers."""

from __future__ import annotations

import ast
import re
from typing import Any, Final

import numpy as np

from tensorloom.debug.console.array_text import HighlightOptions, format_tensor
from tensorloom.debug.console.commands import CommandError
from tensorloom.debug.console.rich_text import RichTextLines
from tensorloom.debug.dumps.event_files import InconvertibleTensorProto

_SLICE: Final = re.compile(r"^\[[-+\d:,. \t]*\]$")
_ALL: Final = 1 << 31
_MANY: Final = 2000  # elements from which on a value is shown in part


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
      ranges: elements in them are in bold, and listed after the array.
      everything: show it whole, however large it is.
      summary: counts, extremes and moments.
    """
    label = name + slicing
    if isinstance(value, InconvertibleTensorProto):
        return format_tensor(value, label).styled()
    array = np.asarray(sliced(value, slicing))
    bounds = parse_ranges(ranges)
    options, marked = None, None
    if bounds:
        marked = _in_ranges(array, bounds)
        options = HighlightOptions(lambda _: marked, ranges)
    out = format_tensor(
        array,
        label,
        include_metadata=True,
        include_numeric_summary=summary,
        np_printoptions={"threshold": _ALL if everything else _MANY},
        highlight_options=options,
    )
    if marked is not None and marked.any():
        # For who sees no attributes.
        places = np.argwhere(marked)
        shown = places if everything else places[:20]
        out.extend(RichTextLines(["", "Highlighted at:"]))
        for place in shown:
            out.append(f"  {list(map(int, place))}: {array[tuple(place)]}")
        if len(shown) < len(places):
            out.append(f"  ... ({len(places) - len(shown)} more)")
    return out.styled()


def _in_ranges(array: Any, bounds: list[tuple[float, float]]) -> Any:
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise CommandError(f"There are no ranges of dtype {array.dtype}")
    found = np.zeros(array.shape, bool)
    for low, high in bounds:
        found |= (array >= low) & (array <= high)
    return found
