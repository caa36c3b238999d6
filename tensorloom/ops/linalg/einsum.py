"""The Einsum op: sums of products that index labels describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_DOTS = "..."
Dims = tuple[int | None, ...]


def parse(equation: bytes | str) -> tuple[list[str], str]:
    """(subscripts of the inputs, subscripts of the output).

    Raises:
      ValueError: there is not one arrow, or an ellipsis is not alone.
    """
    text = equation.decode() if isinstance(equation, bytes) else equation
    text = text.replace(" ", "")
    parts = text.split("->")
    if len(parts) != 2:
        raise ValueError(f"Expecting exactly one '->' in einsum equation: {text}")
    inputs = parts[0].split(",")
    for subscripts in (*inputs, parts[1]):
        rest = subscripts.replace(_DOTS, "", 1)
        if not all(label.isalpha() for label in rest):
            raise ValueError(f"Invalid character in einsum subscripts: {subscripts}")
    return inputs, parts[1]


# --- shape function ----------------------------------------------------------


def _einsum_shape(c: InferenceContext) -> TensorShape:
    try:
        inputs, output = parse(c.attrs["equation"])
    except ValueError as error:
        c.fail(str(error))
    if len(inputs) != c.num_inputs:
        c.fail(f"Expected {len(inputs)} inputs but got: {c.num_inputs}")
    sizes: dict[str, int | None] = {}
    batch: list[Dims | None] = []
    for i, subscripts in enumerate(inputs):
        _note_sizes(c, i, subscripts, sizes, batch)
    for label in output.replace(_DOTS, ""):
        if label not in sizes:
            c.fail(f"Einsum output label {label} is not in the inputs")
    if _DOTS not in output:
        return TensorShape.of(tuple(sizes[label] for label in output))
    if any(dims is None for dims in batch):
        return UNKNOWN
    before, after = output.split(_DOTS)
    middle = _broadcast(c, [dims for dims in batch if dims is not None])
    return TensorShape.of(
        (*(sizes[x] for x in before), *middle, *(sizes[x] for x in after))
    )


def _note_sizes(
    c: InferenceContext,
    index: int,
    subscripts: str,
    sizes: dict[str, int | None],
    batch: list[Dims | None],
) -> None:
    """Matches an input's dimensions with its labels."""
    labels = subscripts.replace(_DOTS, "")
    dims = c.input_shape(index).dims_tuple
    if dims is None:
        for label in labels:
            sizes.setdefault(label, None)
        batch.append(None if _DOTS in subscripts else ())
        return
    if _DOTS not in subscripts:
        c.with_rank(index, len(labels))
        named = list(zip(labels, dims, strict=True))
        batch.append(())
    else:
        c.with_rank_at_least(index, len(labels))
        before, after = subscripts.split(_DOTS)
        end = len(dims) - len(after)
        named = [*zip(before, dims, strict=False)]
        named += zip(after, dims[end:], strict=True)
        batch.append(dims[len(before) : end])
    for label, size in named:
        sizes[label] = c.merge_dim(sizes.get(label), size)


def _broadcast(c: InferenceContext, shapes: list[Dims]) -> Dims:
    rank = max(len(dims) for dims in shapes)
    result: list[int | None] = [1] * rank
    for dims in shapes:
        for i, size in enumerate(dims, rank - len(dims)):
            known = result[i]
            if size == 1 or known == size:
                continue
            if known == 1 or known is None:
                result[i] = size if known == 1 or size is not None else None
            elif size is not None:
                c.fail(f"Dimensions must be equal, but are {known} and {size}")
    return tuple(result)


# --- gradient ----------------------------------------------------------------


def _einsum_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    inputs, output = parse(op.get_attr("equation"))
    return [_grad_of(op, grad, i, inputs, output) for i in range(len(inputs))]


def _einsum(equation: str, operands: list[Any]) -> Tensor:
    return apply_op("Einsum", inputs=operands, equation=equation)  # type: ignore[no-any-return]


def _grad_of(
    op: Operation, grad: Tensor, index: int, inputs: list[str], output: str
) -> Tensor:
    """The gradient with respect to one input.

    First the sums over what the others have, then what this input lost: labels that
    were summed are broadcast, repeated ones go to a diagonal.
    """
    own, operand = inputs[index], op.inputs[index]
    others = [s for i, s in enumerate(inputs) if i != index]
    tensors = [math_ops.conj(t) for i, t in enumerate(op.inputs) if i != index]
    labels = "".join(dict.fromkeys(own.replace(_DOTS, "")))
    # An output label twice stands for a diagonal; its gradient is read there.
    available = output + "".join(others)
    present = "".join(label for label in labels if label in available)
    has_dots = _DOTS in own
    dots = _DOTS if has_dots and _DOTS in available else ""
    result = _einsum(
        f"{','.join([output, *others])}->{dots}{present}", [grad, *tensors]
    )
    shape = array_ops.shape(operand)
    if has_dots:
        result = _reduced(result, shape, own, len(present), bool(dots))
    missing = [label for label in labels if label not in present]
    if missing:
        result = _broadcast_labels(result, shape, own, missing)
        present += "".join(missing)
    prefix = _DOTS if has_dots else ""
    if prefix + present == own:
        return result
    return _einsum(f"{prefix}{present}->{own}", [result])


def _batch_shape(shape: Tensor, own: str) -> Tensor:
    before, after = own.split(_DOTS)
    end = array_ops.size(shape) - len(after)
    return shape[len(before) : end]


def _reduced(
    result: Tensor, shape: Tensor, own: str, labels: int, has_batch: bool
) -> Tensor:
    """Sums over the leading dimensions that the input was broadcast along."""
    batch = _batch_shape(shape, own)
    current = array_ops.shape(result)
    tail = current[array_ops.size(current) - labels :]
    if not has_batch:
        ones = array_ops.ones_like(batch)
        result = array_ops.reshape(result, array_ops.concat([ones, tail], 0))
        return array_ops.broadcast_to(result, array_ops.concat([batch, tail], 0))
    leading = current[: array_ops.size(current) - labels]
    axes, _ = apply_op("BroadcastGradientArgs", s0=batch, s1=leading)
    summed = math_ops.reduce_sum(result, axes)
    return array_ops.reshape(summed, array_ops.concat([batch, tail], 0))


def _broadcast_labels(
    result: Tensor, shape: Tensor, own: str, missing: list[str]
) -> Tensor:
    """Adds labels that were summed over, behind the others."""
    sizes = array_ops.stack([shape[_axis(own, label)] for label in missing])
    current = array_ops.shape(result)
    ones = array_ops.ones_like(sizes)
    result = array_ops.reshape(result, array_ops.concat([current, ones], 0))
    return array_ops.broadcast_to(result, array_ops.concat([current, sizes], 0))


def _axis(own: str, label: str) -> int:
    """Where a label is, counted from the end behind an ellipsis."""
    if _DOTS not in own or own.index(label) < own.index(_DOTS):
        return own.index(label)
    return own.index(label) - len(own)


register_op(
    "Einsum",
    inputs=["inputs: N * T"],
    outputs=["output: T"],
    attrs=["equation: string", "N: int >= 1", "T: type"],
    shape_fn=_einsum_shape,
    gradient=_einsum_grad,
    doc="The sum of products that the equation's labels describe.",
)
