"""Over which axes the gradients of a broadcast operation are summed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

# A size, or the name of a size that is not known yet.
Dim = int | Hashable


def reduction_axes(
    a: Sequence[Dim], b: Sequence[Dim]
) -> tuple[list[int], list[int]] | None:
    """The axes of the broadcast shape that the gradient of each operand is summed over.

    As `BroadcastGradientArgs` gives them: where an operand has size 1, or lacks the
    axis, unless the shapes are equal. Summing over an axis of size 1 changes nothing,
    so a size that is not known is no obstacle where the other one is 1.

    Returns:
      The axes of a and of b; None where sizes that are not known could change them, or
      the shapes do not fit.
    """
    if list(a) == list(b):
        return [], []
    rank = max(len(a), len(b))
    padded_a = [1] * (rank - len(a)) + list(a)
    padded_b = [1] * (rank - len(b)) + list(b)
    axes_a: list[int] = []
    axes_b: list[int] = []
    for axis, (x, y) in enumerate(zip(padded_a, padded_b, strict=True)):
        if x == 1:
            axes_a.append(axis)
        if y == 1:
            axes_b.append(axis)
        if x != 1 and y != 1 and x != y:
            return None
    return axes_a, axes_b
