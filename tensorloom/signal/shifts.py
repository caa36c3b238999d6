"""Spectra with the zero frequency in the middle, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import permute as permute_ops


def _shifted(
    x: Any, axes: Any, name: str | None, scope: str, by: Callable[[int], int]
) -> Tensor:
    with name_scope(name, scope) as scope_name:
        x = convert_to_tensor(x)
        dims = x.shape.as_list()
        shift: Any
        if axes is None:
            axes = tuple(range(len(dims)))
            shift = [by(dim) for dim in dims]
        elif isinstance(axes, int):
            shift = by(dims[axes])
        else:
            shift = [by(dims[axis]) for axis in axes]
        return permute_ops.roll(x, shift, axes, scope_name)


@export("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """A spectrum with its zero frequency moved to the middle, along axes or all."""
    return _shifted(x, axes, name, "fftshift", lambda dim: dim // 2)


@export("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Undoes `fftshift`."""
    return _shifted(x, axes, name, "ifftshift", lambda dim: -(dim // 2))
