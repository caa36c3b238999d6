"""Which node of which step a thread runs now: read off its stack, steps pay nothing."""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FrameType
from typing import NamedTuple

from tensorloom.framework.registry.op_kernel import OpKernelContext
from tensorloom.framework.runtime.resource import ResourceManager
from tensorloom.worker.run.node_error import CODES


class Running(NamedTuple):
    """What a thread runs."""

    node: str
    step: (
        int  # 0: its kernels need not know, as in a step of one piece that never waits
    )
    resources: ResourceManager | None  # those of its session


def running_nodes(threads: Collection[int]) -> dict[int, Running]:
    """What threads run, of those that run a node.

    Args:
      threads: as `threading.get_ident` names them.
    """
    frames = sys._current_frames()
    found = {thread: _running(frames.get(thread)) for thread in threads}
    return {thread: running for thread, running in found.items() if running is not None}


def _running(frame: FrameType | None) -> Running | None:
    name = resources = None
    while frame is not None:
        code = frame.f_globals.get(CODES, {}).get(frame.f_code.co_filename)
        if code is not None:
            # The innermost one; those around it call its function.
            node = code.node_at(frame.f_lineno) if name is None else None
            name = node.name if node is not None else name
        elif name is not None:
            # Never the locals of generated code: to look at them keeps tensors alive.
            mine = frame.f_locals.get("self")
            context = frame.f_locals.get("context") or getattr(mine, "context", None)
            if isinstance(context, OpKernelContext):
                return Running(name, context.step_id, context.resources)
            found = getattr(mine, "resources", None)
            if isinstance(found, ResourceManager):
                resources = found
        frame = frame.f_back
    return None if name is None else Running(name, 0, resources)
