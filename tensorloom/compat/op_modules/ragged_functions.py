"""Functions of TensorFlow's ragged modules that are no part of the public API."""

from __future__ import annotations

import inspect
from typing import Any, Final

from tensorloom.data.composite_specs import RaggedTensorSpec
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.ops.ragged import dispatch
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor, is_ragged

SLICE_TYPE_ERROR: Final = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)


def ragged_tensor_type(
    dtype: Any, ragged_rank: int, row_splits_dtype: Any = dtypes.int64
) -> Any:
    """What `map_fn` takes as the dtype of a ragged result."""
    return RaggedTensorSpec(None, dtype, ragged_rank, row_splits_dtype)


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """`RaggedTensor.from_tensor`; what is ragged stays as it is."""
    if is_ragged(tensor):
        return tensor
    return RaggedTensor.from_tensor(
        tensor,
        lengths=lengths,
        padding=padding,
        ragged_rank=ragged_rank,
        row_splits_dtype=row_splits_dtype,
        name=name,
    )


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    """`RaggedTensor.to_tensor`; what is not ragged stays as it is."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def ragged_to_dense(rt_input: Any, default_value: Any = None, shape: Any = None) -> Any:
    """A ragged tensor as a dense one, cut or padded to a shape.

    Args:
      rt_input: a ragged tensor.
      default_value: fills the gaps; zeros when None.
      shape: of the result; None, or None for a dimension: as large as needed.
    """
    kinds, partitions = _partitions(rt_input)
    values = rt_input.flat_values
    if default_value is None:
        default_value = b"" if values.dtype == dtypes.string else 0
    return apply_op(
        "RaggedTensorToTensor",
        shape=_shape(shape, partitions[0].dtype),
        values=values,
        default_value=convert_to_tensor(default_value, dtype=values.dtype),
        row_partition_types=kinds,
        row_partition_tensors=partitions,
    )


def _partitions(ragged: Any) -> tuple[list[str], list[Any]]:
    kinds, found = [], []
    while is_ragged(ragged):
        kinds.append("ROW_SPLITS")
        found.append(ragged.row_splits)
        ragged = ragged.values
    return kinds, found


def _shape(shape: Any, dtype: Any) -> Any:
    """A shape as the op takes it: -1 for what is not known."""
    if hasattr(shape, "op"):
        return shape
    known = as_shape(shape)
    if known.ndims is None:
        return convert_to_tensor(-1, dtype=dtype)
    sizes = [-1 if size is None else size for size in known.as_list()]
    return convert_to_tensor(sizes, dtype=dtype)


def ragged_op_list(tf_version: int = 1) -> str:
    """The public functions that take ragged tensors, as a list for a page.

    Args:
      tf_version: 1, or 2 for those that TensorFlow 2 has by the same names.

    Raises:
      ValueError: it is another number.
    """
    if tf_version not in (1, 2):
        raise ValueError("Expected version 1 or 2.")
    import tensorloom

    root = tensorloom if tf_version == 1 else tensorloom.compat.v2
    every = *dispatch.UNARY, *dispatch.UNARY_LISTS, *dispatch.BINARY, *dispatch.SIBLINGS
    arguments = {name: ragged[1:] for name, ragged in dispatch.SIBLINGS.items()}
    counts = {**dict.fromkeys(every, 1), **dict.fromkeys(dispatch.BINARY, 2)}
    lines = []
    for name in sorted(set(every) - (_ONLY_IN_1 if tf_version == 2 else set())):
        function = _by_path(root, name)
        if function is None:
            continue
        parameters = list(inspect.signature(function).parameters)
        bold = arguments.get(name, parameters[: counts[name]])
        shown = [f"**{each}**" if each in bold else each for each in parameters]
        lines.append(f"* `tf.{name}`({', '.join(shown)})")
    return (
        "\n\n### Additional ops that support `RaggedTensor`\n\nArguments that accept "
        "`RaggedTensor`s are marked in **bold**.\n\n" + "\n".join(lines) + "\n"
    )


# Version 2 has them under these names, too, but not for ragged tensors.
_ONLY_IN_1: Final = {"batch_gather", "where"}


def _by_path(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = getattr(value, part, None)
    return value
