"""What a layer expects of its inputs."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape

_FIELDS = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")


@export("layers.InputSpec", "keras.layers.InputSpec")
class InputSpec:
    """Rank, dtype and shape that an input of a layer must have.

    Args:
      dtype: of the input.
      shape: of the input; None in it for any size.
      ndim: its rank.
      max_ndim, min_ndim: bounds of its rank.
      axes: sizes of certain axes, {axis: size}.

    Raises:
      TypeError: an axis is no integer.
      ValueError: an axis is beyond the rank.
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
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): axes[axis] for axis in axes} if axes else {}
        except (ValueError, TypeError):
            raise TypeError(f"The keys in axes must be integers, not {axes}.") from None
        bound = self.ndim or self.max_ndim
        if self.axes and bound is not None and max(self.axes) >= bound:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: "
                f"{bound - 1}"
            )

    def __repr__(self) -> str:
        given = [f"{name}={getattr(self, name)}" for name in _FIELDS]
        shown = [
            text for name, text in zip(_FIELDS, given, strict=True) if self._has(name)
        ]
        return f"InputSpec({', '.join(shown)})"

    def _has(self, name: str) -> bool:
        return bool(getattr(self, name))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The reverse of `get_config`."""
        return cls(**config)


def to_tensor_shape(spec: InputSpec) -> TensorShape:
    """The shape that a specification describes, as far as it does."""
    if spec.shape is not None:
        return as_shape(spec.shape)
    if spec.ndim is None:
        return as_shape(None)
    sizes: list[Any] = [None] * spec.ndim
    for axis, size in spec.axes.items():
        sizes[axis] = size
    return as_shape(sizes)


def check_inputs(specs: Any, inputs: Any, layer: str) -> None:
    """Compares inputs with a layer's specifications.

    Raises:
      ValueError: their number, ranks, dtypes or sizes do not fit.
    """
    if not specs:
        return
    specs = [specs] if isinstance(specs, InputSpec) else nest.flatten(specs)
    tensors = nest.flatten(inputs)
    if len(specs) != len(tensors):
        raise ValueError(
            f"Layer {layer} expects {len(specs)} inputs, but it received "
            f"{len(tensors)} input tensors. Inputs received: {tensors}"
        )
    for index, (spec, tensor) in enumerate(zip(specs, tensors, strict=True)):
        problem = None if spec is None else _problem(spec, tensor)
        if problem:
            raise ValueError(
                f"Input {index} of layer {layer} is incompatible with the layer: "
                f"{problem}"
            )


def _problem(spec: InputSpec, tensor: Any) -> str | None:
    """What does not fit, None when all does."""
    shape = tensor.shape
    rank = shape.rank
    if rank is None:
        if spec.ndim is None and spec.min_ndim is None and spec.max_ndim is None:
            return _dtype_problem(spec, tensor)
        return "its rank is undefined, but the layer requires a defined rank."
    return (
        _rank_problem(spec, rank, shape)
        or _dtype_problem(spec, tensor)
        or _size_problem(spec, shape)
    )


def _rank_problem(spec: InputSpec, rank: int, shape: TensorShape) -> str | None:
    if spec.ndim is not None and rank != spec.ndim:
        return (
            f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: "
            f"{shape.as_list()}"
        )
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return (
            f": expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape "
            f"received: {shape.as_list()}"
        )
    return None


def _dtype_problem(spec: InputSpec, tensor: Any) -> str | None:
    if spec.dtype is None or tensor.dtype == spec.dtype:
        return None
    return f"expected dtype={spec.dtype}, found dtype={tensor.dtype}"


def _size_problem(spec: InputSpec, shape: TensorShape) -> str | None:
    if not spec.axes and spec.shape is None:
        return None
    sizes = shape.as_list()
    for axis, expected in spec.axes.items():
        size = getattr(expected, "value", expected)
        if size is not None and sizes[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but "
                f"received input with shape {sizes}"
            )
    if spec.shape is not None:
        for expected, size in zip(as_shape(spec.shape).as_list(), sizes, strict=True):
            if None not in (expected, size) and expected != size:
                return f"expected shape={spec.shape}, found shape={sizes}"
    return None
