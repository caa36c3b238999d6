"""Arrays as lines of text that know which element stands where.

Annotations of a row of an array say the indices of its first element, by
`BEGIN_INDICES_KEY`, or by `OMITTED_INDICES_KEY` where rows are left out;
"tensor_metadata" has the dtype and the shape.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.debug.console.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.debug.dumps.event_files import InconvertibleTensorProto

BEGIN_INDICES_KEY: Final = "i0"
OMITTED_INDICES_KEY: Final = "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR: Final = "bold"
_METADATA: Final = "tensor_metadata"

_EDGE_ITEMS: Final = 3  # NumPy's default
_ELLIPSIS: Final = "...,"
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9][-+0-9eE.]*|nan|inf)(?=\s|,|\])")


class HighlightOptions:
    """Which elements have an attribute."""

    def __init__(
        self,
        criterion: Callable[[Any], Any],
        description: str | None = None,
        font_attr: Any = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR,
    ) -> None:
        """Makes options.

        Args:
          criterion: gives for an array a boolean one of its shape.
          description: what the text calls it.
          font_attr: the attribute.
        """
        self.criterion = criterion
        self.description = description
        self.font_attr = font_attr


def format_tensor(
    tensor: Any,
    tensor_label: str | None,
    include_metadata: bool = False,
    auxiliary_message: RichTextLines | None = None,
    include_numeric_summary: bool = False,
    np_printoptions: dict[str, Any] | None = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:
    """A value as text, as NumPy 1 prints it.

    Args:
      tensor: an array; of anything else there is only its `repr`.
      tensor_label: what it is called; None: no line says it.
      include_metadata: whether dtype and shape are told.
      auxiliary_message: stands before the array.
      include_numeric_summary: whether `numeric_summary` stands before it, too.
      np_printoptions: of `np.printoptions`.
      highlight_options: which elements have an attribute.
    """
    out = RichTextLines([])
    if tensor_label is not None:
        out.append(f'Tensor "{tensor_label}":', _label_segments(tensor_label))
    if not isinstance(tensor, np.ndarray):
        told = isinstance(tensor, InconvertibleTensorProto)
        text = str(tensor) if told else repr(tensor)
        out.extend(RichTextLines(([""] if out.lines else []) + text.split("\n")))
        return out
    if include_metadata:
        out.append(f"  dtype: {tensor.dtype}")
        out.append(f"  shape: {tensor.shape}")
    if out.lines:
        out.append("")
    if auxiliary_message:
        out.extend(auxiliary_message)
    if include_numeric_summary:
        out.append("Numeric summary:")
        out.extend(numeric_summary(tensor))
        out.append("")
    options = np_printoptions or {}
    with np.printoptions(**{"legacy": "1.21", **options}):
        rows = repr(tensor).split("\n")
    # Brackets and commas in strings are not those of the array.
    known = tensor.dtype.kind != "S"
    edge = options.get("edgeitems", _EDGE_ITEMS)
    out.extend(RichTextLines(rows, None, _places(rows, tensor, edge) if known else {}))
    if highlight_options is not None:
        _highlight(out, tensor, highlight_options)
    return out


def _label_segments(label: str) -> list[tuple[int, int, Any]]:
    """The name is bold; the debug op behind it, if there is one, yellow."""
    start, end = len('Tensor "'), len('Tensor "') + len(label)
    op = label.rpartition(":")[2]
    if op.isdigit():
        return [(start, end, "bold")]
    return [(start, end - len(op) - 1, "bold"), (end - len(op), end, "yellow")]


def _places(rows: Iterable[str], array: Any, edge: int) -> dict[Any, Any]:
    """The annotations of the rows of an array's text."""
    found: dict[Any, Any] = {_METADATA: {"dtype": array.dtype, "shape": array.shape}}
    if not array.ndim:
        return found
    at, depth = [0] * array.ndim, 0
    for number, row in enumerate(rows):
        text = row.strip()
        if not text:
            continue
        if text == _ELLIPSIS:
            found[number] = {OMITTED_INDICES_KEY: list(at)}
            at[depth - 1] = array.shape[depth - 1] - edge
            continue
        found[number] = {BEGIN_INDICES_KEY: list(at)}
        closed = text.count("]")
        depth += text.count("[") - closed
        if not closed:
            at[depth - 1] += text.rpartition("[")[2].count(",")
        elif depth > 0:
            at[depth - 1] += 1
            at[depth:] = [0] * (array.ndim - depth)
    return found


def _highlight(out: RichTextLines, array: Any, options: HighlightOptions) -> None:
    places = np.argwhere(options.criterion(array)).tolist()
    of = f"({options.description})" if options.description else ""
    share = len(places) / float(array.size) * 100.0 if array.size else 0.0
    out.lines[0] += (
        f" Highlighted{of}: {len(places)} of {array.size} element(s) ({share:.2f}%)"
    )
    if not places or not array.ndim or _METADATA not in out.annotations:
        return
    for omitted, row, start, end in zip(
        *locate_tensor_element(out, places), strict=True
    ):
        if not omitted and start is not None:
            segments = out.font_attr_segs.setdefault(row, [])
            segments.append((start, end, options.font_attr))


def locate_tensor_element(formatted: RichTextLines, indices: list[Any]) -> Any:
    """Where elements stand in the text of an array.

    Args:
      formatted: from `format_tensor`.
      indices: of an element; or a list of those of several, in ascending order.

    Returns:
      Whether its row is left out, the row, its first column and the one after its
      last; columns are None where the element is not printed. Of several elements
      there are four lists.

    Raises:
      AttributeError: the text is not that of an array.
      ValueError: there is no such element, or they are not in ascending order.
    """
    is_batch = isinstance(indices[0], list)
    wanted: list[list[int]] = indices if is_batch else [indices]
    if _METADATA not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    _check(wanted, formatted.annotations[_METADATA]["shape"])
    rows = sorted(key for key in formatted.annotations if isinstance(key, int))
    firsts = [next(iter(formatted.annotations[row].values())) for row in rows]
    found = []
    for one in wanted:
        place = bisect_right(firsts, one) - 1
        row = rows[place]
        omitted = OMITTED_INDICES_KEY in formatted.annotations[row]
        columns = _columns(formatted.lines[row], one[-1] - firsts[place][-1])
        found.append((omitted, row, *columns))
    if not is_batch:
        return found[0]
    return tuple(list(column) for column in zip(*found, strict=True))


def _check(wanted: Sequence[list[int]], shape: Sequence[int]) -> None:
    before = None
    for one in wanted:
        if len(one) != len(shape):
            raise ValueError(
                f"Dimensions mismatch: requested: {len(one)}; actual: {len(shape)}"
            )
        if any(index >= size for index, size in zip(one, shape, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if any(index < 0 for index in one):
            raise ValueError("Indices contain negative value(s).")
        if before is not None and one < before:
            raise ValueError("Input indices sets are not in ascending order.")
        before = one


def _columns(row: str, offset: int) -> tuple[int | None, int | None]:
    """The columns of a row's element, counted from its first one."""
    end = row.find(_ELLIPSIS) if _ELLIPSIS in row else len(row)
    for number, match in enumerate(_NUMBER.finditer(row)):
        if match.start() > end:
            break
        if number == offset:
            return match.span()
    return None, None


def numeric_summary(tensor: Any) -> RichTextLines:
    """Tables of how many elements there are of which kind, and of moments.

    Args:
      tensor: an array; of one that is empty or not of numbers or booleans, one line
        says so.
    """
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype == bool:
        true = int(tensor.sum())
        return _table({"False": tensor.size - true, "True": true}, tensor.size)
    if not np.issubdtype(tensor.dtype, np.number):
        return RichTextLines(
            [f"No numeric summary available due to tensor dtype: {tensor.dtype}."]
        )
    nan, infinite = np.isnan(tensor), np.isinf(tensor)
    parts = tensor.real if np.iscomplexobj(tensor) else tensor
    counts = {
        "nan": nan,
        "-inf": infinite & (parts < 0),
        "-": ~infinite & (parts < 0),
        "0": tensor == 0,
        "+": ~infinite & (parts > 0),
        "+inf": infinite & (parts > 0),
    }
    out = _table({name: int(v.sum()) for name, v in counts.items()}, tensor.size)
    valid = tensor[~(nan | infinite)]
    if valid.size:
        names = ("min", "max", "mean", "std")
        moments = {name: str(getattr(np, name)(valid)) for name in names}
        out.extend(_table(moments))
    return out


def _table(cells: dict[str, Any], total: int | None = None) -> RichTextLines:
    """Two rows; of counts, which have a total, those that are 0 are left out."""
    if total is not None:
        cells = {name: value for name, value in cells.items() if value}
    texts = [(name, str(value)) for name, value in cells.items()]
    width = max((len(text) + 1 for pair in texts for text in pair), default=0)
    rows = ["|" + "".join(p[row].rjust(width) for p in texts) + " |" for row in (0, 1)]
    if total is not None:
        width = max(len("total") + 1, len(str(total)))
        rows[0] += "total".rjust(width) + " |"
        rows[1] += str(total).rjust(width) + " |"
    return rich_text_lines_from_rich_line_list([RichLine(row) for row in rows])
