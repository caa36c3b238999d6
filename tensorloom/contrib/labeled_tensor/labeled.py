"""`LabeledTensor`: a tensor with its axes."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.contrib.labeled_tensor.axis import (
    Axes,
    AxisLike,
    Scalar,
    axes_text,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types.tensor_conversion import (
    convert_to_tensor,
    register_tensor_conversion_function,
)

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


def _operator(name: str) -> Callable[[Any, Any], Any]:
    # Operations stand on this class, so that they are looked up when they are called.
    def operator(self: Any, other: Any) -> Any:
        return export.find(f"contrib.labeled_tensor.{name}")(self, other)

    return operator


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return export.find(f"contrib.labeled_tensor.{name}")(other, self)

    return operator


def _unary(name: str) -> Callable[[Any], Any]:
    def operator(self: Any) -> Any:
        return export.find(f"contrib.labeled_tensor.{name}")(self)

    return operator


@export.export("contrib.labeled_tensor.LabeledTensor")
class LabeledTensor:
    """A tensor with an axis for each dimension, of the dimension's size."""

    @checked
    def __init__(self, tensor: Tensor, axes: Axes | Collection[str | AxisLike]) -> None:
        """Gives a tensor axes.

        Args:
          tensor: of known rank.
          axes: for each dimension an axis, a pair of name and value, or a name alone;
            then the size is the dimension's.

        Raises:
          ValueError: rank or sizes differ, or two axes have one name.
        """
        shape = tensor.get_shape()
        if not isinstance(axes, Axes):
            axes = Axes(
                [
                    (axis, shape[at]) if isinstance(axis, str) else axis
                    for at, axis in enumerate(axes)
                ]
            )
        if len(shape) != len(axes):
            raise ValueError(
                f"Tensor rank was not equal to the number of axes: {shape!r}, {axes!r}"
            )
        for dimension, axis in zip(shape, axes.values(), strict=True):
            if dimension != axis.size:
                raise ValueError(
                    f"Provided axis size {axis.size} does not match tensor dimension "
                    f"size {dimension} in tensor {tensor!r}"
                )
        self._tensor = tensor
        self._axes = axes

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} '{self.tensor.name}' shape={self.shape} "
            f"dtype={self.dtype.name}\n axes=[{axes_text(self.axes, len(' axes=['))}]>"
        )

    @property
    def tensor(self) -> Tensor:
        """The tensor without its axes."""
        return self._tensor

    def _as_graph_element(self) -> Tensor:
        return self._tensor

    @property
    def axes(self) -> Axes:
        """The axes, in the order of the dimensions."""
        return self._axes

    @property
    def dtype(self) -> DType:
        """The tensor's dtype."""
        return self._tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The tensor's shape."""
        return self._tensor.shape

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self._tensor.name

    def get_shape(self) -> TensorShape:
        """The tensor's shape."""
        return self._tensor.get_shape()

    def __getitem__(self, key: Any) -> LabeledTensor:
        """A part, as of a tensor, with a key for each axis.

        Raises:
          ValueError: there are more or fewer keys than axes.
        """
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.axes):
            raise ValueError(
                f"indexer {keys!r} must have the same length as the Tensor rank "
                f"({len(self.axes)!r})"
            )
        part: LabeledTensor = export.find("contrib.labeled_tensor.slice")(
            self, dict(zip(self.axes, keys, strict=True))
        )
        return part

    __abs__ = _unary("abs")
    __neg__ = _unary("neg")
    __invert__ = _unary("logical_not")

    def __pos__(self) -> LabeledTensor:
        return self

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("sub"), _reflected("sub")
    __mul__, __rmul__ = _operator("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _operator("div"), _reflected("div")
    __mod__, __rmod__ = _operator("mod"), _reflected("mod")
    __pow__, __rpow__ = _operator("pow"), _reflected("pow")
    __and__ = _operator("logical_and")
    __or__ = _operator("logical_or")
    __xor__ = _operator("logical_xor")
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")

    def __eq__(self, other: object) -> bool:
        # Of objects, as `==` of tensors is in graphs: `equal` compares elements.
        if not isinstance(other, LabeledTensor):
            return False
        return bool(self.tensor == other.tensor) and self.axes == other.axes

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.tensor, self.axes))


LabeledTensorLike = LabeledTensor | Tensor | np.ndarray | Scalar
Slice = builtins.slice


def _tensor_of(
    value: LabeledTensor,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    return convert_to_tensor(value.tensor, dtype=dtype, name=name)


register_tensor_conversion_function(LabeledTensor, _tensor_of)


@export.export("contrib.labeled_tensor.convert_to_labeled_tensor")
@checked
def convert_to_labeled_tensor(
    value: LabeledTensorLike, dtype: Any = None, name: str | None = None
) -> LabeledTensor:
    """A labeled tensor from one, or from a scalar.

    Args:
      value: a labeled tensor, or a tensor, array or Python value without dimensions.
      dtype: of the result; by default the value's.
      name: of a tensor that is made.

    Raises:
      ValueError: it has dimensions, but no axes.
    """
    axes: Any = []
    if isinstance(value, LabeledTensor):
        axes, value = value.axes, value.tensor
    tensor = convert_to_tensor(value, dtype=dtype, name=name)
    if len(tensor.get_shape()) != len(axes):
        raise ValueError(
            "cannot automatically convert unlabeled arrays or tensors with rank>0 into "
            f"LabeledTensors: {value!r}"
        )
    return LabeledTensor(tensor, axes)
