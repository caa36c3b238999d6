"""Checkpoints written by a thread: the values are taken first, in one step."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.storage.checkpoints import slices
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter, merge_bundles
from tensorloom.storage.files import filesystem


@dataclass(frozen=True, slots=True)
class _Shard:
    """What one SaveV2 operation saves."""

    names: list[bytes]
    specs: list[bytes]
    tensors: list[Any]

    def write(self, prefix: str, values: list[Any]) -> None:
        with BundleWriter(prefix) as writer:
            writer.expect(values)
            for name, spec, tensor, value in zip(
                self.names, self.specs, self.tensors, values, strict=True
            ):
                dtype = tensor.dtype.base_dtype
                array = _array(value, dtype)
                if spec:
                    shape, part = slices.parse_shape_and_slice(spec)
                    writer.add_slice(name, dtype, array, shape, part)
                else:
                    writer.add(name, dtype, array)
            writer.finish()


def _array(value: Any, dtype: Any) -> Any:
    if dtype == dtypes.string and not isinstance(value, np.ndarray):
        return object_scalar(value)
    return np.asarray(value)


def _find_shards(saver_def: Any, graph: Any) -> list[_Shard]:
    """The SaveV2 operations that the save tensor of a saver depends on."""
    start = graph.get_tensor_by_name(saver_def.save_tensor_name).op
    pending, seen, shards = [start], {start}, []
    while pending:
        op = pending.pop()
        if op.type == "SaveV2":
            names, specs = constant_value(op.inputs[1]), constant_value(op.inputs[2])
            if names is None or specs is None:
                break
            shards.append(_Shard(names.tolist(), specs.tolist(), list(op.inputs[3:])))
            continue
        for other in [*(t.op for t in op.inputs), *op.control_inputs]:
            if other not in seen:
                seen.add(other)
                pending.append(other)
    if not shards:
        raise errors.UnimplementedError(
            None,
            None,
            "Only savers of SaveV2 operations save in the background; "
            f"{saver_def.save_tensor_name} does not depend on one",
        )
    return shards[::-1]


class BackgroundSave:
    """The thread of one saver."""

    def __init__(self, saver_def: Any, graph: Any) -> None:
        self._shards = _find_shards(saver_def, graph)
        self._thread = ThreadPoolExecutor(1, "tensorloom-saver")
        self._writers = ThreadPoolExecutor(
            min(4, len(self._shards)), "tensorloom-shard-writer"
        )
        self._last: Future[str] | None = None

    def wait(self) -> None:
        """Waits for the checkpoint that is being written; its error is its future's."""
        if self._last is not None:
            self._last.exception()

    def start(
        self, sess: Any, prefix: str, finish: Callable[[str], None]
    ) -> Future[str]:
        """Takes the values, and begins to write.

        Args:
          finish: called in the thread when the checkpoint is there.
        """
        self.wait()
        # One step reads all variables, so they belong together.
        values: list[list[Any]] = sess.run([shard.tensors for shard in self._shards])
        self._last = self._thread.submit(self._write, prefix, values, finish)
        return self._last

    def _write(
        self, prefix: str, values: list[list[Any]], finish: Callable[[str], None]
    ) -> str:
        shards = list(zip(self._shards, values, strict=True))
        if len(shards) == 1:
            shards[0][0].write(prefix, shards[0][1])
        else:
            directory = f"{prefix}_temp_{uuid.uuid4().hex}"
            parts = [
                f"{directory}/part-{at:05d}-of-{len(shards):05d}"
                for at in range(len(shards))
            ]
            futures = [
                self._writers.submit(shard.write, part, value)
                for part, (shard, value) in zip(parts, shards, strict=True)
            ]
            try:
                for future in futures:
                    future.result()
                merge_bundles(parts, prefix)
            finally:
                wait(futures)
                with contextlib.suppress(errors.OpError):
                    filesystem.remove_tree(directory)
        finish(prefix)
        return prefix
