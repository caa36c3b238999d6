"""`Dataset.padded_batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.data import nest, specs
from tensorloom.data.dataset_classes import new_dataset
from tensorloom.data.transformations import boolean, int64
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import (
    constant_value,
    constant_value_as_shape,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset
    from tensorloom.framework.graph.tensor import Tensor


def padded_batch(
    dataset: Dataset,
    batch_size: Any,
    padded_shapes: Any,
    padding_values: Any,
    drop_remainder: Any,
) -> Dataset:
    """Batches of elements padded to a common shape.

    Raises:
      TypeError: a component is sparse, or a padding value of another dtype.
      ValueError: a padded shape does not fit its component.
    """
    spec = dataset.element_spec
    if any(isinstance(s, specs.SparseTensorSpec) for s in nest.flatten(spec)):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = int64(batch_size, "batch_size")
    if padding_values is None:
        padding_values = nest.map_structure(_zero, dataset.output_types)
    shapes = dataset.output_shapes
    padded = [
        _shape_tensor(given, shape)
        for shape, given in zip(
            nest.flatten(shapes), nest.flatten_up_to(shapes, padded_shapes), strict=True
        )
    ]
    values = [
        _value_tensor(value, dtype)
        for dtype, value in zip(
            nest.flatten(dataset.output_types),
            nest.flatten_up_to(shapes, padding_values),
            strict=True,
        )
    ]
    drop = boolean(drop_remainder, "drop_remainder")
    known = constant_value(size) if constant_value(drop) else None
    rows = None if known is None else int(known)
    batch_shapes = [
        TensorShape([rows]).concatenate(constant_value_as_shape(s)) for s in padded
    ]
    types = nest.flatten(dataset.output_types)
    structure = nest.pack_sequence_as(
        spec,
        [
            specs.TensorSpec(shape, dtype)
            for shape, dtype in zip(batch_shapes, types, strict=True)
        ],
    )
    variant = apply_op(
        "PaddedBatchDatasetV2",
        input_dataset=dataset._variant_tensor,
        batch_size=size,
        padded_shapes=padded,
        padding_values=values,
        drop_remainder=drop,
        output_shapes=batch_shapes,
    )
    return new_dataset(variant, structure, [dataset])


def _zero(dtype: Any) -> Any:
    if dtype.base_dtype == dtypes.string:
        return ""
    if dtype.base_dtype == dtypes.variant:
        raise TypeError(
            "Unable to create padding for field of type 'variant' because t.base_type "
            f"== dtypes.variant == {dtype.base_dtype}."
        )
    return np.zeros((), dtype.as_numpy_dtype)


def _shape_tensor(given: Any, shape: TensorShape) -> Tensor:
    try:
        wanted = given if isinstance(given, TensorShape) else TensorShape(given)
        sizes = [-1 if d is None else d for d in wanted.as_list()]
        tensor = convert_to_tensor(sizes, dtype=dtypes.int64)
    except (TypeError, ValueError):
        tensor = convert_to_tensor(given, preferred_dtype=dtypes.int64)
        if tensor.shape.ndims is not None and tensor.shape.ndims != 1:
            raise ValueError(
                f"Padded shape {given} must be a 1-D tensor of tf.int64 values, but "
                f"its shape was {tensor.shape}."
            ) from None
        if tensor.dtype != dtypes.int64:
            raise TypeError(
                f"Padded shape {given} must be a 1-D tensor of tf.int64 values, but "
                f"its element type was {tensor.dtype.name}."
            ) from None
        wanted = constant_value_as_shape(tensor)
    if not _can_pad(wanted, shape):
        raise ValueError(
            f"The padded shape {wanted} is not compatible with the corresponding input "
            f"component shape {shape}."
        )
    return tensor


def _can_pad(padded: TensorShape, shape: TensorShape) -> bool:
    target, found = padded.dims_tuple, shape.dims_tuple
    if target is None or found is None:
        return True
    return len(target) == len(found) and all(
        a is None or b is None or a >= b for a, b in zip(target, found, strict=True)
    )


def _value_tensor(value: Any, dtype: Any) -> Tensor:
    tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with(TensorShape([])):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype != dtype:
        raise TypeError(
            f"Padding value tensor ({tensor}) does not match output type: {dtype}"
        )
    return tensor
