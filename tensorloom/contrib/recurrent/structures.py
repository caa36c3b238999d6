"""Structures of tensors as recurrent loops need them: rows, sums, accumulators."""

from __future__ import annotations

from typing import Any

from tensorloom.compat.internals import inplace_ops
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, reshape, shape
from tensorloom.ops.indexing import gather
from tensorloom.ops.math import binary, cast


def pack(values: Any, template: Any) -> Any:
    """Tensors in the structure of a template; a single tensor may stand alone."""
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    return nest.pack_sequence_as(template, listed)


def types(structure: Any) -> list[Any]:
    """The dtypes of the tensors, in order."""
    return [tensor.dtype for tensor in nest.flatten(structure)]


def rows(structure: Any, index: Any) -> Any:
    """Row `index` of each tensor."""
    index = convert_to_tensor(index)
    index.get_shape().assert_has_rank(0)
    return nest.map_structure(lambda tensor: gather.gather(tensor, index), structure)


def with_rows(accumulators: Any, values: Any, index: Any) -> Any:
    """The accumulators with each value in row `index`."""
    index = cast.cast([index], "int32")
    return nest.pack_sequence_as(
        accumulators,
        [
            inplace_ops.alias_inplace_update(
                accumulator, index, reshape.expand_dims(value, 0)
            )
            for accumulator, value in zip(
                nest.flatten(accumulators), nest.flatten(values), strict=True
            )
        ],
    )


def length(structure: Any) -> Any:
    """The number of rows of the first tensor, a scalar."""
    return shape.shape(nest.flatten(structure)[0])[0]


def accumulators(count: Any, structure: Any) -> Any:
    """Zeros with `count` rows of each tensor's shape."""

    def zeros(tensor: Any) -> Any:
        sizes = concat.concat([[count], shape.shape(tensor)], axis=0)
        return apply_op("Empty", shape=sizes, dtype=tensor.dtype, init=True)

    return nest.map_structure(zeros, structure)


def zeros(structure: Any) -> Any:
    """Zeros of each tensor's shape."""
    return nest.map_structure(
        lambda tensor: inplace_ops.empty_like(tensor, init=True), structure
    )


def added(first: Any, second: Any) -> Any:
    """The sums of the tensors of two structures."""
    pairs = zip(nest.flatten(first), nest.flatten(second), strict=True)
    return nest.pack_sequence_as(first, [binary.add(x, y) for x, y in pairs])


def none_as_zeros(structure: Any, gradients: Any) -> Any:
    """The gradients, with zeros in place of None."""
    pairs = zip(nest.flatten(structure), nest.flatten(gradients), strict=True)
    return nest.pack_sequence_as(
        gradients,
        [
            fill.zeros_like(tensor) if gradient is None else gradient
            for tensor, gradient in pairs
        ],
    )


def set_shapes(structure: Any, template: Any) -> None:
    """Gives tensors the static shapes of a template's."""
    pairs = zip(nest.flatten(structure), nest.flatten(template), strict=True)
    for tensor, other in pairs:
        tensor.set_shape(other.shape)
