"""What distributions of numbers share: shapes that follow from their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import common_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class ScalarDistribution(Distribution):
    """A random number; a batch has a parameter for each, broadcast to one shape."""

    def _own_parameters(self) -> list[Tensor]:
        """The tensors whose shapes make the batch's."""
        raise NotImplementedError

    def _batch_shape(self) -> TensorShape:
        return common_shape(*self._own_parameters())

    def _batch_shape_tensor(self) -> Any:
        first, *others = (array_ops.shape(value) for value in self._own_parameters())
        for other in others:
            first = array_ops.broadcast_dynamic_shape(first, other)
        return first

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _event_shape_tensor(self) -> Any:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _shape_of(self, n: Any) -> Any:
        """The shape of n draws."""
        return array_ops.concat([[n], self.batch_shape_tensor()], 0)

    def _filled(self, value: Any) -> Any:
        """A value for each distribution of the batch."""
        number = convert_to_tensor(value, dtype=self.dtype)
        return array_ops.fill(self.batch_shape_tensor(), number)


def same_shapes(name: str, *names: str) -> Any:
    """A `_param_shapes` by which each of the parameters has the shape of a sample."""

    def param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys((name, *names), shape)

    return staticmethod(param_shapes)
