"""The names of checkpoint shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types.object_arrays import object_scalar

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def _check_scalars(**values: Any) -> None:
    for name, value in values.items():
        if value.ndim:
            shape = ",".join(map(str, value.shape))
            raise errors.InvalidArgumentError(
                None, None, f"{name} must be a scalar, got shape [{shape}]"
            )


@host_kernel("ShardedFilename", large=True)
def sharded_filename(c: OpKernelConstruction) -> Compute:
    """The name of one shard."""

    def compute(basename: Any, shard: Any, num_shards: Any) -> Any:
        _check_scalars(basename=basename, shard=shard, num_shards=num_shards)
        return object_scalar(
            basename.item() + b"-%05d-of-%05d" % (int(shard), int(num_shards))
        )

    return compute


@host_kernel("ShardedFilespec", large=True)
def sharded_filespec(c: OpKernelConstruction) -> Compute:
    """The pattern of all shards."""

    def compute(basename: Any, num_shards: Any) -> Any:
        _check_scalars(basename=basename, num_shards=num_shards)
        return object_scalar(basename.item() + b"-?????-of-%05d" % int(num_shards))

    return compute
