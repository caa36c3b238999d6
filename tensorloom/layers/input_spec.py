"""What a layer expects of its inputs."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import nest


@export("layers.InputSpec")
class InputSpec:
    """Rank, dtype and shape that an input of a layer must have.

    Args:
      dtype: of the input.
      shape: of the input; None in it for any size.
      ndim: its rank.
      max_ndim, min_ndim: bounds of its rank.
      axes: sizes of certain axes, {axis: size}.
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int | None] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else str(getattr(dtype, "name", dtype))
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(k): axes[k] for k in axes} if axes else {}
        if self.axes and (self.ndim or self.max_ndim):
            highest = (self.ndim or self.max_ndim or 0) - 1
            if max(self.axes) > highest:
                raise ValueError(
                    f"Axis {max(self.axes)} is greater than the maximum allowed value: "
                    f"{highest}"
                )

    def __repr__(self) -> str:
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        given = [f"{n}={getattr(self, n)}" for n in names if getattr(self, n)]
        return f"InputSpec({', '.join(given)})"

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The reverse of `get_config`."""
        return cls(**config)


def check_inputs(specs: Any, inputs: Any, layer: str) -> None:
    """Compares inputs with a layer's specifications.

    Raises:
      ValueError: their number, ranks, dtypes or sizes do not fit.
    """
    if not specs:
        return
    specs, inputs = nest.flatten(specs), nest.flatten(inputs)
    if len(specs) != len(inputs):
        raise ValueError(
            f"Layer {layer} expects {len(specs)} inputs, but it received "
            f"{len(inputs)} input tensors. Inputs received: {inputs}"
        )
    for index, (spec, tensor) in enumerate(zip(specs, inputs, strict=True)):
        if spec is not None:
            problem = _problem(spec, tensor)
            if problem:
                raise ValueError(
                    f"Input {index} of layer {layer} is incompatible with the layer: "
                    f"{problem}"
                )


def _problem(spec: InputSpec, tensor: Any) -> str | None:
    """What does not fit, None when all does."""
    rank = tensor.shape.rank
    if rank is None:
        if spec.ndim is None and spec.min_ndim is None and spec.max_ndim is None:
            return None
        return "its rank is undefined, but the layer requires a defined rank."
    return (
        _rank_problem(spec, rank, tensor)
        or _dtype_problem(spec, tensor)
        or _size_problem(spec, tensor.shape.as_list())
    )


def _rank_problem(spec: InputSpec, rank: int, tensor: Any) -> str | None:
    shape = tensor.shape.as_list()
    if spec.ndim is not None and rank != spec.ndim:
        return (
            f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: "
            f"{shape}"
        )
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return (
            f": expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape "
            f"received: {shape}"
        )
    return None


def _dtype_problem(spec: InputSpec, tensor: Any) -> str | None:
    if spec.dtype is None or tensor.dtype == spec.dtype:
        return None
    return f"expected dtype={spec.dtype}, found dtype={tensor.dtype}"


def _size_problem(spec: InputSpec, shape: list[int | None]) -> str | None:
    for axis, size in spec.axes.items():
        if size is not None and shape[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but "
                f"received input with shape {shape}"
            )
    if spec.shape is not None:
        for expected, size in zip(spec.shape, shape, strict=True):
            if None not in (expected, size) and expected != size:
                return f"expected shape={spec.shape}, found shape={shape}"
    return None
