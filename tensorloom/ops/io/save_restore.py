"""Checkpoints as ops: the definitions of saving, restoring and naming files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _names_and_slices(c: InferenceContext, dtypes_count: int) -> None:
    """prefix is a scalar; names and slices are vectors, one entry a tensor."""
    c.with_rank(0, 0)
    for index in (1, 2):
        dims = c.with_rank(index, 1).dims_tuple
        assert dims is not None
        c.merge_dim(dims[0], dtypes_count)


def _save_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    _names_and_slices(c, c.num_inputs - 3)
    return ()


def _restore_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    first, second = c.with_rank(1, 1), c.with_rank(2, 1)
    c.merge(first, second)
    slices = c.input_value(2)
    count = c.num_outputs
    if slices is None or len(slices) != count:
        return [UNKNOWN] * count
    return [_shape_of_slice(c, text) for text in slices.tolist()]


def _shape_of_slice(c: InferenceContext, spec: bytes) -> TensorShape:
    """The shape that `"10 4 0,5:0,4"` restores: the sizes of the slice."""
    if not spec:
        return UNKNOWN
    text = spec.decode(errors="backslashreplace")
    *full, slices = text.split(" ")
    if not full:
        c.fail(f"Need least two elements in shape_and_slice specification: {text}")
    parts = slices.split(":")
    if len(parts) != len(full):
        c.fail(f"Mismatching ranks in shape_and_slice specification: {text}")
    try:
        return TensorShape.of(
            tuple(
                int(size) if part == "-" else int(part.split(",")[1])
                for size, part in zip(full, parts, strict=True)
            )
        )
    except (ValueError, IndexError):
        c.fail(f"Non numerical dimension in shape_and_slice specification: {text}")


def _merge_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 1)
    c.with_rank(1, 0)
    return ()


def _file_name_shape(c: InferenceContext) -> TensorShape:
    for index in range(c.num_inputs):
        c.with_rank(index, 0)
    return TensorShape.of(())


register_op(
    "SaveV2",
    inputs=[
        "prefix: string",
        "tensor_names: string",
        "shape_and_slices: string",
        "tensors: dtypes",
    ],
    attrs=["dtypes: list(type) >= 1"],
    shape_fn=_save_shape,
    stateful=True,
    doc="Writes tensors to a checkpoint in the V2 format.",
)
register_op(
    "RestoreV2",
    inputs=["prefix: string", "tensor_names: string", "shape_and_slices: string"],
    outputs=["tensors: dtypes"],
    attrs=["dtypes: list(type) >= 1"],
    shape_fn=_restore_shape,
    stateful=True,
    doc="Reads tensors from a checkpoint.",
)
register_op(
    "MergeV2Checkpoints",
    inputs=["checkpoint_prefixes: string", "destination_prefix: string"],
    attrs=["delete_old_dirs: bool = true"],
    shape_fn=_merge_shape,
    stateful=True,
    doc="Makes one checkpoint of several shards.",
)
register_op(
    "ShardedFilename",
    inputs=["basename: string", "shard: int32", "num_shards: int32"],
    outputs=["filename: string"],
    shape_fn=_file_name_shape,
    doc="basename-00003-of-00010.",
)
register_op(
    "ShardedFilespec",
    inputs=["basename: string", "num_shards: int32"],
    outputs=["filename: string"],
    shape_fn=_file_name_shape,
    doc="basename-?????-of-00010.",
)


def _save_v1_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    """filename is a scalar; names (and slices) are vectors, one entry a tensor."""
    c.with_rank(0, 0)
    names = c.with_rank(1, 1).dims_tuple
    assert names is not None
    vectors = 2 if c.op_name == "Save" else 3
    c.merge_dim(names[0], c.num_inputs - vectors)
    if vectors == 3:
        slices = c.with_rank(2, 1).dims_tuple
        assert slices is not None
        c.merge_dim(slices[0], c.num_inputs - vectors)
    return ()


def _restore_v1_shape(c: InferenceContext) -> TensorShape:
    for index in range(c.num_inputs):
        c.with_rank(index, 0)
    if c.num_inputs == 3:
        text = c.input_value(2)
        if text is not None:
            return _shape_of_slice(c, text.item())
    return UNKNOWN


register_op(
    "Save",
    inputs=["filename: string", "tensor_names: string", "data: T"],
    attrs=["T: list(type) >= 1"],
    shape_fn=_save_v1_shape,
    stateful=True,
    doc="Writes tensors to a checkpoint in the V1 format.",
)
register_op(
    "SaveSlices",
    inputs=[
        "filename: string",
        "tensor_names: string",
        "shapes_and_slices: string",
        "data: T",
    ],
    attrs=["T: list(type) >= 1"],
    shape_fn=_save_v1_shape,
    stateful=True,
    doc="Writes slices of tensors to a checkpoint in the V1 format.",
)
register_op(
    "Restore",
    inputs=["file_pattern: string", "tensor_name: string"],
    outputs=["tensor: dt"],
    attrs=["dt: type", "preferred_shard: int = -1"],
    shape_fn=_restore_v1_shape,
    stateful=True,
    doc="Reads a tensor from a checkpoint in the V1 format.",
)
register_op(
    "RestoreSlice",
    inputs=[
        "file_pattern: string",
        "tensor_name: string",
        "shape_and_slice: string",
    ],
    outputs=["tensor: dt"],
    attrs=["dt: type", "preferred_shard: int = -1"],
    shape_fn=_restore_v1_shape,
    stateful=True,
    doc="Reads a slice of a tensor from a checkpoint in the V1 format.",
)
