"""What libraries ask TensorFlow's private modules of static shapes and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    ShapeError,
    broadcast_shapes,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import evaluate
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


def broadcast_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape that two partially known shapes broadcast to.

    Raises:
      ValueError: they do not.
    """
    context = InferenceContext("BroadcastShape", "", {}, (), (), ())
    try:
        return broadcast_shapes(context, as_shape(shape_x), as_shape(shape_y))
    except ShapeError:
        raise ValueError(
            f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}"
        ) from None


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Whether two shapes of known rank broadcast; False where a rank is not known."""
    if as_shape(shape_x).ndims is None or as_shape(shape_y).ndims is None:
        return False
    try:
        broadcast_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def shape_equals(tensor_proto: Any, shape: Any) -> bool:
    """Whether a TensorProto has this shape, a list of sizes or a TensorShapeProto.

    Raises:
      TypeError: an argument is of another kind.
    """
    from tensorloom.protos.tensor_pb2 import TensorProto
    from tensorloom.protos.tensor_shape_pb2 import TensorShapeProto

    if not isinstance(tensor_proto, TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, TensorShapeProto):
        shape = [dim.size for dim in shape.dim]
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == list(shape)


def shape_tensor(shape: Any) -> Tensor:
    """A shape as a tensor; of int32 if it is an empty list."""
    if not isinstance(shape, (list, tuple)):
        return convert_to_tensor(shape, name="shape")
    sizes = tuple(map(dimension_value, shape))
    return convert_to_tensor(sizes, dtype=None if sizes else dtypes.int32, name="shape")


def try_evaluate_constant(c_graph: Any, output: Tensor) -> Any:
    """The value of a tensor that follows from constants, as an array; else None."""
    del c_graph  # the tensor knows its graph
    return evaluate(output)
