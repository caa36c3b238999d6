"""Host kernels that save and restore checkpoints."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import host_kernel
from tensorloom.kernels.host import tensor_bundle as bundle
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType
    from tensorloom.framework.op_kernel import Compute, OpKernelConstruction

_SHORT_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def _strings(value: Any) -> list[bytes]:
    items = np.asarray(value).reshape(-1).tolist()
    return [x.encode() if isinstance(x, str) else x for x in items]


def _path(value: Any) -> str:
    array = np.asarray(value)
    if array.size != 1:
        raise invalid_argument(
            "Input prefix should have a single element, got "
            f"{array.size} instead with shape {shape_text(array.shape)}"
        )
    return os.fsdecode(array.item())


def _check_counts(names: list[bytes], specs: list[bytes], count: int) -> None:
    for what, items in (("tensor_names", names), ("shape_and_slices", specs)):
        if len(items) != count:
            raise invalid_argument(
                f"Got {count} tensors but {len(items)} elements in {what}"
            )


def _extent(item: str, text: str) -> tuple[int, int]:
    if item == "-":
        return 0, -1
    try:
        start, length = map(int, item.split(","))
    except ValueError:
        raise invalid_argument(
            f"Expected a pair of numbers or '-' but got '{item}': string = {text}"
        ) from None
    if start < 0 or length <= 0:
        raise invalid_argument(
            "Expected non-negative start and positive length but got "
            f"start = {start}, length = {length}: string = {text}"
        )
    return start, length


def _parse(spec: bytes) -> tuple[bundle.Shape, bundle.Slice]:
    """The full shape and the slice in `"4 2 0,2:-"`."""
    text = spec.decode("utf-8", "backslashreplace")
    *sizes, last = text.split(" ")
    if not sizes:
        raise invalid_argument(
            f"Need least two elements in shape_and_slice specification: {text}"
        )
    part = tuple(_extent(item, last) for item in last.split(":") if item)
    try:
        shape = tuple(map(int, sizes))
    except ValueError:
        raise invalid_argument(
            f"Non numerical dimension in shape_and_slice: {text}"
        ) from None
    where = f"shape = {shape_text(shape)}, slice = {bundle.slice_text(part)}"
    if len(shape) != len(part):
        raise invalid_argument(f"Mismatching ranks: {where}")
    for at, ((start, length), size) in enumerate(zip(part, shape, strict=True)):
        if size < 0 or start + max(length, 0) > size:
            raise invalid_argument(f"Extent in dimension {at} out of bounds: {where}")
    return shape, part


@host_kernel("SaveV2", large=True)
def save_v2(c: OpKernelConstruction) -> Compute:
    """Writes a checkpoint."""
    dtypes: list[DType] = list(c["dtypes"])

    def compute(prefix: Any, names: Any, specs: Any, *tensors: Any) -> None:
        keys, slices = _strings(names), _strings(specs)
        _check_counts(keys, slices, len(tensors))
        with bundle.BundleWriter(_path(prefix)) as writer:
            for key, spec, dtype, value in zip(
                keys, slices, dtypes, tensors, strict=True
            ):
                if spec:
                    shape, part = _parse(spec)
                    _check_slice(shape, part, np.shape(value))
                    writer.add_slice(key, dtype, value, shape, part)
                else:
                    writer.add(key, dtype, value)
            writer.finish()

    return compute


def _check_slice(
    full: bundle.Shape, part: bundle.Slice, shape: tuple[int, ...]
) -> None:
    sliced = tuple(length for _, length in bundle.bounds(part, full))
    if sliced != shape:
        raise invalid_argument(
            "Slice in shape_and_slice specification does not match the shape of the "
            f"tensor to  save: {shape_text(full)}, tensor: {shape_text(shape)}"
        )


@host_kernel("RestoreV2", large=True)
def restore_v2(c: OpKernelConstruction) -> Compute:
    """Reads a checkpoint."""
    dtypes: list[DType] = list(c["dtypes"])

    def compute(prefix: Any, names: Any, specs: Any) -> Any:
        keys, slices = _strings(names), _strings(specs)
        _check_counts(keys, slices, len(dtypes))
        path = _path(prefix)
        if not os.path.exists(bundle.index_name(path)):
            raise errors.NotFoundError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: "
                f"Failed to find any matching files for {path}",
            )
        reader = bundle.BundleReader(path)
        return tuple(
            _restore(reader, key, spec, dtype)
            for key, spec, dtype in zip(keys, slices, dtypes, strict=True)
        )

    return compute


def _type_text(dtype: DType) -> str:
    return _SHORT_NAMES.get(dtype.name, dtype.name)


def _restore(reader: bundle.BundleReader, key: bytes, spec: bytes, dtype: DType) -> Any:
    name = key.decode("utf-8", "backslashreplace")
    stored, shape, part = reader.dtype(key), reader.shape(key), None
    if stored != dtype:
        raise invalid_argument(
            f"tensor_name = {name}; expected dtype {_type_text(dtype)} does not equal "
            f"original dtype {_type_text(stored)}"
        )
    if spec:
        full, part = _parse(spec)
        if full != shape:
            raise invalid_argument(
                f"tensor_name = {name}; shape in shape_and_slice spec "
                f"{shape_text(full)} does not match the shape stored in checkpoint: "
                f"{shape_text(shape)}"
            )
    return reader.read(key, part)


@host_kernel("MergeV2Checkpoints", large=True)
def merge_v2_checkpoints(c: OpKernelConstruction) -> Compute:
    """Makes one checkpoint of those of several devices."""
    delete = bool(c.get("delete_old_dirs", True))

    def compute(prefixes: Any, destination: Any) -> None:
        old, new = [os.fsdecode(x) for x in _strings(prefixes)], _path(destination)
        bundle.merge_bundles(old, new)
        if not delete:
            return
        kept = os.path.dirname(new)
        for directory in {os.path.dirname(prefix) for prefix in old} - {kept}:
            with contextlib.suppress(OSError):
                os.rmdir(directory)

    return compute
