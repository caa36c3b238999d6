"""Einsum over torch tensors."""

from __future__ import annotations

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import text

_DOTS = "..."
_WIDE = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.bool: torch.int64,
    torch.uint8: torch.int64,
    torch.int8: torch.int64,
    torch.int16: torch.int64,
    torch.int32: torch.int64,
}


def _check(subscripts: list[str], operands: tuple[torch.Tensor, ...]) -> None:
    """Ranks and sizes must fit the labels."""
    sizes: dict[str, int] = {}
    for labels, operand in zip(subscripts, operands, strict=True):
        named = labels.replace(_DOTS, "")
        fits = (
            operand.dim() >= len(named)
            if _DOTS in labels
            else operand.dim() == len(named)
        )
        if not fits:
            raise invalid_argument(
                f"Expected input of rank {len(named)} for einsum subscripts {labels}, "
                f"got shape {text(operand.shape)}"
            )
        before, _, after = labels.partition(_DOTS)
        dims = list(zip(before, operand.shape, strict=False))
        dims += zip(after, operand.shape[operand.dim() - len(after) :], strict=True)
        for label, size in dims:
            if sizes.setdefault(label, size) != size:
                raise invalid_argument(
                    f"Expected dimension {sizes[label]} at axis of label {label}, but "
                    f"got dimension {size}"
                )


@kernel("Einsum")
def einsum(c: OpKernelConstruction) -> Compute:
    """The sum of products; equal labels of the output become a diagonal."""
    equation = c["equation"].decode().replace(" ", "")
    left, _, output = equation.partition("->")
    subscripts = left.split(",")
    if len(subscripts) != c["N"]:
        raise invalid_argument(f"Expected {len(subscripts)} inputs but got: {c['N']}")
    named = output.replace(_DOTS, "")
    unique = "".join(dict.fromkeys(named))
    dots = _DOTS if _DOTS in output else ""
    plain = named == unique
    target = output if plain else dots + unique
    on_cpu = c.device_type == "CPU"

    def compute(*operands: torch.Tensor) -> torch.Tensor:
        _check(subscripts, operands)
        dtype = operands[0].dtype
        wide = _WIDE.get(dtype) if on_cpu else None
        if wide is not None:
            operands = tuple(operand.to(wide) for operand in operands)
        try:
            result = torch.einsum(f"{left}->{target}", *operands)
        except RuntimeError as error:
            raise invalid_argument(f"{equation}: {error}") from None
        if not plain:
            result = _with_diagonals(result, dots + unique, output)
        return result.to(dtype) if wide is not None else result.contiguous()

    return compute


def _with_diagonals(value: torch.Tensor, labels: str, output: str) -> torch.Tensor:
    """Zeros but where equal labels of `output` have equal indices."""
    batch = value.dim() - len(labels.replace(_DOTS, ""))
    places = {label: batch + i for i, label in enumerate(labels.replace(_DOTS, ""))}
    before, _, after = output.partition(_DOTS)
    axes = [places[label] for label in before]
    axes += [*range(batch)] if _DOTS in output else []
    axes += [places[label] for label in after]
    result = value.new_zeros([value.shape[axis] for axis in axes])
    grids = [
        torch.arange(size, device=value.device).view(
            [-1 if i == axis else 1 for i in range(value.dim())]
        )
        for axis, size in enumerate(value.shape)
    ]
    result[tuple(grids[axis] for axis in axes)] = value
    return result
