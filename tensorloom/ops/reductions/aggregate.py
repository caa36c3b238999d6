"""Sums over a list of tensors: AddN and AccumulateNV2."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, ShapeError
from tensorloom.framework.types.indexed_slices import (
    IndexedSlices,
    convert_n_to_tensor_or_indexed_slices,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape, as_shape
from tensorloom.ops.array import identity as identity_ops

_NUMBERS: Final = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)


def _add_n_shape(c: InferenceContext) -> TensorShape:
    merged = c.input_shape(c.num_inputs - 1)
    for i in range(c.num_inputs - 2, -1, -1):
        try:
            merged = c.merge(c.input_shape(i), merged)
        except ShapeError as error:
            c.fail(f"{error}\n\tFrom merging shape {i} with other shapes.")
    handle = c.handle_data(0)
    if handle is not None:
        c.set_output_handle_data(0, handle)
    return merged


def _accumulate_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


def _same_for_each(op: Operation, grad: Tensor) -> list[Tensor]:
    return [grad] * len(op.inputs)


register_op(
    "AddN",
    inputs=["inputs: N * T"],
    outputs=["sum: T"],
    attrs=[
        "N: int >= 1",
        f"T: {{{_NUMBERS}, variant}}",
    ],
    shape_fn=_add_n_shape,
    gradient=_same_for_each,
    commutative=True,
    aggregate=True,
    doc="The sum of tensors of one shape.",
)

register_op(
    "AccumulateNV2",
    inputs=["inputs: N * T"],
    outputs=["sum: T"],
    attrs=["N: int >= 1", f"T: {{{_NUMBERS}}}", "shape: shape"],
    shape_fn=_accumulate_shape,
    gradient=_same_for_each,
    commutative=True,
    aggregate=True,
    doc="The sum of tensors of one shape, which need not exist at the same time.",
)


@export("math.add_n", "add_n")
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors (or IndexedSlices) of one dtype and shape.

    Raises:
      ValueError: the list is empty, or shapes differ.
      TypeError: it is no list at all.
    """
    message = (
        "inputs must be a list of at least one Tensor/IndexedSlices with the same "
        "dtype and shape"
    )
    iter(inputs if inputs is not None else ())
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError(message)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, Tensor | IndexedSlices) for x in inputs):
        raise ValueError(message)
    if len(inputs) > 1:
        return apply_op("AddN", name, inputs=inputs)  # type: ignore[no-any-return]
    value = inputs[0]
    if isinstance(value, IndexedSlices):
        value = convert_to_tensor(value)
    return identity_ops.identity(value, name=name) if name else value


@export("math.accumulate_n", "accumulate_n")
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of a list of tensors of one dtype and shape.

    Args:
      shape, tensor_dtype: checked against the inputs' when given.

    Raises:
      ValueError: the list is empty, or dtypes or shapes differ.
      TypeError: `tensor_dtype` is another dtype.
    """
    message = (
        "inputs must be a list of at least one Tensor with the same dtype and shape"
    )
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(message)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, Tensor) for x in inputs):
        raise ValueError(message)
    if not all(x.dtype == inputs[0].dtype for x in inputs):
        raise ValueError(message)
    merged = UNKNOWN if shape is None else as_shape(shape)
    for value in inputs:
        merged = merged.merge_with(value.shape)
    if tensor_dtype is not None and tensor_dtype != inputs[0].dtype:
        raise TypeError(
            f"tensor_dtype is {tensor_dtype}, but input is of type {inputs[0].dtype}"
        )
    if len(inputs) > 1:
        return apply_op(  # type: ignore[no-any-return]
            "AccumulateNV2", name, inputs=inputs, shape=merged
        )
    value = inputs[0]
    return value if name is None else identity_ops.identity(value, name=name)
