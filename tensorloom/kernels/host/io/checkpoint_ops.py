"""Host kernels that save and restore checkpoints, of both versions."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.framework.types.dtypes import variant
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.torch.state import restored_memory
from tensorloom.storage.checkpoints import checkpoints, slices
from tensorloom.storage.checkpoints.bundle_reader import Empty, empty_array
from tensorloom.storage.checkpoints.bundle_strings import as_bytes
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter, merge_bundles
from tensorloom.storage.checkpoints.checkpoint_v1 import (
    CheckpointReaderV1,
    CheckpointWriterV1,
)
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.storage.checkpoints.slices import Shape, Slice


def _strings(value: Any) -> list[bytes]:
    return as_bytes(np.asarray(value).reshape(-1).tolist())


def _path(value: Any, what: str = "prefix") -> str:
    array = np.asarray(value)
    if array.size != 1:
        raise invalid_argument(
            f"Input {what} should have a single element, got "
            f"{array.size} instead with shape {shape_text(array.shape)}"
        )
    return os.fsdecode(array.item())


def _check_counts(names: list[bytes], specs: list[bytes], count: int) -> None:
    for what, items in (("tensor_names", names), ("shape_and_slices", specs)):
        if len(items) != count:
            raise invalid_argument(
                f"Got {count} tensors but {len(items)} elements in {what}"
            )


def _check_slice(full: Shape, part: Slice, shape: tuple[int, ...]) -> None:
    if slices.size_of(slices.bounds(part, full)) != shape:
        raise invalid_argument(
            "Slice in shape_and_slice specification does not match the shape of the "
            f"tensor to  save: {shape_text(full)}, tensor: {shape_text(shape)}"
        )


@host_kernel("SaveV2", large=True)
def save_v2(c: OpKernelConstruction) -> Compute:
    """Writes a checkpoint."""
    dtypes: list[DType] = list(c["dtypes"])

    def compute(prefix: Any, names: Any, specs: Any, *tensors: Any) -> None:
        keys, parts = _strings(names), _strings(specs)
        _check_counts(keys, parts, len(tensors))
        with BundleWriter(_path(prefix)) as writer:
            writer.expect(tensors)
            for key, spec, dtype, value in zip(
                keys, parts, dtypes, tensors, strict=True
            ):
                if spec:
                    shape, part = slices.parse_shape_and_slice(spec)
                    _check_slice(shape, part, np.shape(value))
                    writer.add_slice(key, dtype, value, shape, part)
                else:
                    writer.add(key, dtype, value)
            writer.finish()

    return compute


def _save_v1(dtypes: list[DType]) -> Callable[..., None]:
    def save(filename: Any, names: Any, specs: Any, tensors: Any) -> None:
        keys = _strings(names)
        parts = [b""] * len(keys) if specs is None else _strings(specs)
        _check_counts(keys, parts, len(tensors))
        writer = CheckpointWriterV1(_path(filename, "filename"))
        for key, spec, dtype, value in zip(keys, parts, dtypes, tensors, strict=True):
            if spec:
                shape, part = slices.parse_shape_and_slice(spec)
                _check_slice(shape, part, np.shape(value))
                writer.add(key, dtype, value, shape, part)
            else:
                writer.add(key, dtype, value)
        writer.finish()

    return save


@host_kernel("Save", large=True)
def save(c: OpKernelConstruction) -> Compute:
    """Writes a checkpoint of version 1."""
    write = _save_v1(list(c["T"]))
    return lambda filename, names, *data: write(filename, names, None, data)


@host_kernel("SaveSlices", large=True)
def save_slices(c: OpKernelConstruction) -> Compute:
    """Writes a checkpoint of version 1 with slices."""
    write = _save_v1(list(c["T"]))
    return lambda filename, names, specs, *data: write(filename, names, specs, data)


# With a context: what is fetched is then a copy. The values are for variables.
@host_kernel("RestoreV2", context=True, large=True)
def restore_v2(c: OpKernelConstruction) -> Compute:
    """Reads a checkpoint of either version."""
    dtypes: list[DType] = list(c["dtypes"])

    def compute(context: Any, prefix: Any, names: Any, specs: Any) -> Any:
        keys, parts = _strings(names), _strings(specs)
        _check_counts(keys, parts, len(dtypes))

        def restore(reader: checkpoints.Reader) -> tuple[Any, ...]:
            # All reads are under way before the first is waited for.
            later = [
                _restore(reader, key, spec, dtype, restored_memory.empty)
                for key, spec, dtype in zip(keys, parts, dtypes, strict=True)
            ]
            values = [value() for value in later]
            # A single variant is the object itself.
            return tuple(
                value.item() if dtype == variant and not value.shape else value
                for value, dtype in zip(values, dtypes, strict=True)
            )

        return checkpoints.with_checkpoint(_path(prefix), restore)

    return compute


def _restore(
    reader: checkpoints.Reader,
    key: bytes,
    spec: bytes,
    dtype: DType,
    empty: Empty = empty_array,
) -> Callable[[], Any]:
    name = key.decode("utf-8", "backslashreplace")
    stored, shape, part = reader.dtype(key), reader.shape(key), None
    if stored != dtype:
        raise invalid_argument(
            f"tensor_name = {name}; expected dtype {dtype_word(dtype)} does not equal "
            f"original dtype {dtype_word(stored)}"
        )
    if spec:
        full, part = slices.parse_shape_and_slice(spec)
        if full != shape:
            raise invalid_argument(
                f"tensor_name = {name}; shape in shape_and_slice spec "
                f"{shape_text(full)} does not match the shape stored in checkpoint: "
                f"{shape_text(shape)}"
            )
    return reader.read_later(key, part, empty)


def _restore_one(dtype: DType, pattern: Any, name: Any, spec: Any) -> Any:
    key = _strings(name)
    if len(key) != 1:
        raise invalid_argument(
            "Input tensor_name must have a single element, got "
            f"{shape_text(np.shape(name))}"
        )
    path = _path(pattern, "file_pattern")
    with CheckpointReaderV1(path) as reader:
        return _restore(
            reader, key[0], _strings(spec)[0] if spec is not None else b"", dtype
        )()


@host_kernel("Restore", large=True)
def restore(c: OpKernelConstruction) -> Compute:
    """Reads a tensor of a checkpoint of version 1."""
    dtype: DType = c["dt"]
    return lambda pattern, name: _restore_one(dtype, pattern, name, None)


@host_kernel("RestoreSlice", large=True)
def restore_slice(c: OpKernelConstruction) -> Compute:
    """Reads a slice of a tensor of a checkpoint of version 1."""
    dtype: DType = c["dt"]
    return lambda pattern, name, spec: _restore_one(dtype, pattern, name, spec)


@host_kernel("MergeV2Checkpoints", large=True)
def merge_v2_checkpoints(c: OpKernelConstruction) -> Compute:
    """Makes one checkpoint of those of several devices."""
    delete = bool(c.get("delete_old_dirs", True))

    def compute(prefixes: Any, destination: Any) -> None:
        if np.ndim(prefixes) != 1:
            raise invalid_argument(
                "Input checkpoint_prefixes should be an 1-D tensor, got "
                f"{shape_text(np.shape(prefixes))} instead."
            )
        old, new = [os.fsdecode(x) for x in _strings(prefixes)], _path(destination)
        merge_bundles(old, new)
        if not delete:
            return
        kept = filesystem.parent(new)
        for directory in {filesystem.parent(prefix) for prefix in old} - {kept}:
            with contextlib.suppress(errors.OpError):
                filesystem.remove_directory(directory)

    return compute
