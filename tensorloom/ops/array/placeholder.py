"""Where values enter a graph: Placeholder and PlaceholderWithDefault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _placeholder_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


def _with_default_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    c.merge(c.input_shape(0), shape)
    # What is fed may have any shape that the attr allows: the default's own shape
    # says nothing about it.
    return shape


def _with_default_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad


register_op(
    "Placeholder",
    outputs=["output: dtype"],
    attrs=["dtype: type", "shape: shape = unknown"],
    shape_fn=_placeholder_shape,
    doc="A value that must be fed.",
)

register_op(
    "PlaceholderV2",
    outputs=["output: dtype"],
    attrs=["dtype: type", "shape: shape"],
    shape_fn=_placeholder_shape,
    deprecated=(23, "Placeholder now behaves the same as PlaceholderV2."),
    doc="A value that must be fed.",
)

register_op(
    "PlaceholderWithDefault",
    inputs=["input: dtype"],
    outputs=["output: dtype"],
    attrs=["dtype: type", "shape: shape"],
    shape_fn=_with_default_shape,
    gradient=_with_default_grad,
    doc="A value that may be fed; the input when it is not.",
)


@export("placeholder")
def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value is given in `feed_dict` at each run.

    Args:
      dtype: type of the elements.
      shape: what is known of the shape; anything may be fed when None.
    """
    return apply_op("Placeholder", dtype=dtype, shape=shape, name=name)  # type: ignore[no-any-return]


@export("placeholder_with_default")
def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that has the value of `input` unless it is fed.

    Args:
      shape: the shapes that may be fed; `input`'s must be among them.
    """
    return apply_op("PlaceholderWithDefault", input=input, shape=shape, name=name)  # type: ignore[no-any-return]


@export("sparse.placeholder", "sparse_placeholder")
def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A SparseTensor whose value is given in `feed_dict` at each run.

    Args:
      dtype: type of the values.
      shape: the dense shape; None, or one with unknown sizes, is fed as well.
    """
    from tensorloom.framework.types.sparse_tensor import SparseTensor

    def part(suffix: str) -> str | None:
        return None if name is None else f"{name}/{suffix}"

    dense_shape, rank = _dense_shape(shape, part("shape"))
    if dense_shape is None:
        dense_shape = placeholder(dtypes.int64, shape=[rank], name=part("shape"))
    return SparseTensor(
        values=placeholder(dtype, shape=[None], name=part("values")),
        indices=placeholder(dtypes.int64, shape=[None, rank], name=part("indices")),
        dense_shape=dense_shape,
    )


def _dense_shape(shape: Any, name: str | None) -> tuple[Tensor | None, Any]:
    """(shape tensor or None when it must be fed, rank or None)."""
    if shape is None:
        return None, None
    if isinstance(shape, Tensor):
        return convert_to_tensor(shape, dtype=dtypes.int64, name=name), shape.shape[0]
    if any(size is None for size in shape):
        return None, len(shape)
    return convert_to_tensor(shape, dtype=dtypes.int64, name=name), len(shape)
