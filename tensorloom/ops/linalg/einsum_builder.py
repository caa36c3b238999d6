"""`tf.einsum`: sums of products by subscripts, as a chain of matrix products."""

from __future__ import annotations

import re
import string
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.linalg import matmul as matmul_ops
from tensorloom.ops.linalg.norm import trace
from tensorloom.ops.math import binary as binary_ops
from tensorloom.ops.reductions import reductions as reductions_ops

_EQUATION = re.compile(r"^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$")


@export("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products that an equation such as `ij,jk->ik` names.

    Args:
      equation: a letter for each axis of each input, then of the output; `...` stands
        for any axes; without `->` the output has the letters that occur once, sorted.
      inputs: tensors of known rank.
      kwargs: `name`.

    Raises:
      ValueError: the equation is malformed, or does not fit the inputs' ranks.
      TypeError: another keyword argument than `name`.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(
            "invalid keyword arguments for this function: " + ", ".join(sorted(kwargs))
        )
    with name_scope(name, "einsum", [equation, inputs]):
        labels, out_labels = _resolve(equation, [x.get_shape() for x in inputs])
        diagonal = labels[0]
        if (
            len(labels) == 1
            and "->" not in equation
            and len(diagonal) == 2
            and diagonal[0] == diagonal[1]
        ):
            return trace(inputs[0])
        _check_distinct(labels)
        if _summed_over_three(labels, out_labels):
            return _by_broadcasting(labels, out_labels, list(inputs))
        return _by_products(equation, labels, out_labels, inputs)


def _check_distinct(labels: list[str]) -> None:
    for axes in labels:
        if len(set(axes)) < len(axes):
            raise ValueError(
                f"Subscript not supported: an axis appears more than once: {axes}"
            )


def _summed_over_three(labels: list[str], out_labels: str) -> bool:
    """True if a letter of more than two inputs is summed: no product of two can."""
    letters = set("".join(labels)) - set(out_labels)
    return any(sum(a in axes for axes in labels) > 2 for a in letters)


# --- the equation ------------------------------------------------------------


def _resolve(equation: str, shapes: list[Any]) -> tuple[list[str], str]:
    """The letters of each input and of the output, `...` replaced by letters."""
    match = _EQUATION.match(equation.replace(" ", ""))
    if match is None:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels = match.group(1).split(",")
    out_labels = match.group(2)[2:] if match.group(2) else None
    if len(shapes) != len(labels):
        raise ValueError(
            f'Got {len(shapes)} arguments for equation "{equation}", '
            f"expecting {len(labels)}"
        )
    ellipsis = ""
    if "..." in equation:
        labels, ellipsis = _replace_ellipses(labels, shapes)
        if out_labels is not None:
            out_labels = out_labels.replace("...", ellipsis)
    if any("." in axes for axes in [*labels, out_labels or ""]):
        raise ValueError('period "." found outside of ellipsis')
    if out_labels is None:
        letters = "".join(labels)
        once = {a for a in letters if letters.count(a) == 1} - set(ellipsis)
        out_labels = ellipsis + "".join(sorted(once))
    return labels, out_labels


def _replace_ellipses(labels: list[str], shapes: list[Any]) -> tuple[list[str], str]:
    """Letters that the equation does not use stand for the axes of each `...`."""
    unused = "".join(a for a in string.ascii_letters if a not in "".join(labels))
    longest = ""
    replaced = []
    for axes, shape in zip(labels, shapes, strict=True):
        if "..." not in axes:
            replaced.append(axes)
            continue
        parts = axes.split("...")
        if len(parts) != 2:
            raise ValueError("Unable to resolve ellipsis. Excess number found.")
        if shape.ndims is None:
            raise ValueError("Unable to statically infer ellipsis axes.")
        count = shape.ndims - len("".join(parts))
        if count < 0:
            raise ValueError("Ellipses lengths do not match.")
        if len(unused) < count:
            raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
        letters = unused[-count:] if count else ""
        replaced.append(axes.replace("...", letters))
        longest = max(longest, letters, key=len)
    return replaced, longest


# --- a chain of products of two ----------------------------------------------


def _by_products(
    equation: str, labels: list[str], out_labels: str, inputs: tuple[Any, ...]
) -> Tensor:
    value, axes = inputs[0], labels[0]
    for other, other_axes in zip(inputs[1:], labels[1:], strict=True):
        summed = set(axes) & set(other_axes) - set(out_labels)
        value, axes = _product(value, axes, other, other_axes, summed)
    left = [i for i, a in enumerate(axes) if a not in out_labels]
    if left:
        value = reductions_ops.reduce_sum(value, axis=left)
        axes = "".join(a for a in axes if a in out_labels)
    if sorted(axes) != sorted(out_labels):
        raise ValueError(f"Invalid equation: {equation}")
    perm = [axes.index(a) for a in out_labels]
    return _transposed(value, perm)  # type: ignore[no-any-return]


def _product(
    x: Any, x_axes: str, y: Any, y_axes: str, summed: set[str]
) -> tuple[Tensor, str]:
    """The product of two, summed over `summed`; and the letters of its axes.

    Axes of both that are not summed come first (a batch), then those of x alone, then
    those of y alone.
    """
    for i, (value, axes) in enumerate(((x, x_axes), (y, y_axes))):
        if len(axes) != len(value.get_shape()):
            raise ValueError(
                f"Tensor t{i} of rank {len(value.get_shape())} does not match einsum "
                f"reduction of length {len(axes)}"
            )
    batch = sorted((set(x_axes) & set(y_axes)) - summed)
    only_x = sorted(set(x_axes) - set(batch) - summed)
    only_y = sorted(set(y_axes) - set(batch) - summed)
    inner = sorted(summed)
    x = _transposed(x, [x_axes.find(a) for a in batch + only_x + inner])
    y = _transposed(y, [y_axes.find(a) for a in batch + inner + only_y])
    out_axes = "".join(batch + only_x + only_y)
    if not summed:
        for _ in only_y:
            x = reshape_ops.expand_dims(x, -1)
        for _ in only_x:
            y = reshape_ops.expand_dims(y, len(batch))
        return binary_ops.multiply(x, y), out_axes
    return _matrix_product(x, y, len(batch), len(inner)), out_axes


def _matrix_product(x: Tensor, y: Tensor, batch: int, inner: int) -> Tensor:
    """x [batch..., rows..., inner...] times y [batch..., inner..., columns...]."""
    x_sizes = _sizes(x)
    rows = _total(x_sizes[batch:-inner])
    summed = _total(x_sizes[-inner:])
    x = _reshaped(x, [*x_sizes[:batch], rows, summed])
    y_sizes = _sizes(y)
    columns = _total(y_sizes[batch + inner :])
    y = _reshaped(y, [*y_sizes[:batch], summed, columns])
    product = matmul_ops.matmul(x, y)
    return _reshaped(product, x_sizes[:-inner] + y_sizes[batch + inner :])


def _transposed(x: Any, perm: list[int]) -> Any:
    return x if perm == list(range(len(perm))) else permute_ops.transpose(x, perm=perm)


def _sizes(x: Tensor) -> list[Any]:
    """The sizes of x, scalars of the graph where they are not static."""
    sizes: list[Any] = x.get_shape().as_list()
    unknown = [i for i, size in enumerate(sizes) if size is None]
    if unknown:
        dynamic = shape_ops.shape(x)
        for i in unknown:
            sizes[i] = dynamic[i]
    return sizes


def _total(sizes: list[Any]) -> Any:
    total: Any = 1
    for size in sizes:
        total *= size
    return total


def _reshaped(x: Tensor, sizes: list[Any]) -> Tensor:
    known = x.get_shape().as_list()
    if len(known) == len(sizes) and all(
        not isinstance(size, Tensor) and size == own
        for own, size in zip(known, sizes, strict=True)
    ):
        return x
    return reshape_ops.reshape(x, tuple(sizes))


# --- everything at once ------------------------------------------------------


def _by_broadcasting(labels: list[str], out_labels: str, inputs: list[Any]) -> Tensor:
    """All inputs multiplied over all axes, then summed: memory for every letter."""
    letters = set("".join(labels) + out_labels)
    order = sorted(letters - set(out_labels)) + list(out_labels)
    shapes = []
    for i, (x, axes) in enumerate(zip(inputs, labels, strict=True)):
        if x.get_shape().ndims != len(axes):
            raise ValueError(
                f"Input {i} with axes {axes} has incorrect number of dimensions "
                f"(expected {len(axes)}, got {x.get_shape().ndims})"
            )
        ordered = sorted(axes, key=order.index)
        if list(axes) != ordered:
            inputs[i] = permute_ops.transpose(x, [axes.find(a) for a in ordered])
        sizes = dict(zip(ordered, inputs[i].get_shape().as_list(), strict=True))
        shapes.append([(sizes[a] or -1) if a in sizes else 1 for a in order])
    for j, letter in enumerate(order):
        if len({shape[j] for shape in shapes if shape[j] > 1}) > 1:
            raise ValueError(f"Dimension mismatch on axis: {letter}")
    product: Any = 1
    for expanded in [
        reshape_ops.reshape(x, shape) for x, shape in zip(inputs, shapes, strict=True)
    ]:
        product *= expanded
    summed = [j for j, letter in enumerate(order) if letter not in out_labels]
    return reductions_ops.reduce_sum(product, summed)
