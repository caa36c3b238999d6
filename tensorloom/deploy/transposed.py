"""What a transposed convolution leaves out at its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorloom.deploy.program import Unexportable

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@dataclass(frozen=True)
class Pads:
    """By spatial axis: what is cut at the start and the end, and added at the end."""

    starts: list[int]
    ends: list[int]
    extra: list[int]


def result_sizes(
    given: Sequence[int | None] | None,
    inferred: Sequence[TensorShape] | None,
    is_last: bool,
) -> list[int]:
    """The height and width of the result.

    Args:
      given: what is known of the shape that the op is told.
      inferred: its static shapes.
      is_last: whether channels are last.

    Raises:
      Unexportable: they are not known.
    """
    known: list[list[int | None]] = []
    if given is not None:
        known.append(list(given))
    if inferred is not None and inferred[0].ndims is not None:
        known.append(list(inferred[0].as_list()))
    for shape in known:
        middle = shape[1:-1] if is_last else shape[2:]
        sizes = [size for size in middle if size is not None and size >= 0]
        if len(sizes) == len(middle):
            return sizes
    raise Unexportable("the height or width of its result is not known")


def transposed_pads(
    result: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    source: TensorShape,
    is_last: bool,
    same: bool,
) -> Pads:
    """The pads that give a result of that size.

    Raises:
      Unexportable: the size of what it reads is not known.
    """
    if source.ndims is None:
        raise Unexportable("the shape of its input is not known")
    inside = source.as_list()[1:-1] if is_last else source.as_list()[2:]
    pads = Pads([], [], [])
    for size, reach, stride, count in zip(result, kernel, strides, inside, strict=True):
        if count is None:
            raise Unexportable("the height or width of its input is not known")
        whole = (count - 1) * stride + reach
        cut = max(whole - size, 0)
        before = cut // 2 if same else 0
        pads.extra.append(max(size - whole, 0))
        pads.starts.append(before)
        pads.ends.append(cut - before)
    return pads
