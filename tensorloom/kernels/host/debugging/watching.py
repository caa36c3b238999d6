"""The kernel of a debug op: makes something of a value, and publishes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.debug.publishers import (
    DebugNodeKey,
    Watched,
    publish,
    publisher_of,
    wall_time_us,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType


def watching(
    c: OpKernelConstruction,
    make: Callable[[Any], Any],
    dtype: DType,
    is_worth_it: Callable[[Any], bool] | None = None,
    waits: bool = False,
) -> Compute:
    """The compute function of a debug op.

    It takes the value, None where a variable is not initialized, and the frames of the
    loops around.

    Args:
      make: what the op gives for a value.
      dtype: of that.
      is_worth_it: whether what was made is published; always, if it is None.
      waits: whether the answer of who hears of it is the output.

    Raises:
      errors.InvalidArgumentError: the node names no tensor.
    """
    key = _key_of(c)
    urls = [url.decode() for url in c["debug_urls"]]
    gated = c["gated_grpc"]

    def compute(value: Any, frames: tuple[tuple[str, int], ...] = ()) -> Any:
        open_urls = urls
        if gated:
            open_urls = [url for url in urls if publisher_of(url).is_open(url, key)]
            if not open_urls:
                return np.zeros([0], dtype.as_numpy_dtype)
        made = make(value)
        if open_urls and (is_worth_it is None or is_worth_it(made)):
            watched = Watched(key, made, dtype, wall_time_us(), frames)
            answer = publish(open_urls, watched)
            if waits and answer is not None:
                return answer
        return made

    return compute


def _key_of(c: OpKernelConstruction) -> DebugNodeKey:
    """What the node watches: its attr has "node" or "node:0"."""
    name = c["tensor_name"].decode()
    node, _, slot = name.partition(":")
    if not node or ":" in slot or (slot and not slot.isdecimal()):
        raise errors.InvalidArgumentError(
            None, None, f'Failed to parse tensor name: "{name}"'
        )
    return DebugNodeKey(c["device_name"].decode(), node, int(slot or 0), c.op)
