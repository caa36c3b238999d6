"""One run of a registered graph: its pieces side by side, cancelled together."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.interfaces import NodeStats, StepMetadata
from tensorloom.framework.registry.op_kernel import OpKernelContext
from tensorloom.framework.runtime import concurrency, threads
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.framework.runtime.resource import Variable
from tensorloom.transport.wire.request_ids import new_step_id
from tensorloom.worker.run.rendezvous import Rendezvous

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.runtime.resource import ResourceManager
    from tensorloom.framework.types import dtypes
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.worker.compile.dataflow_piece import DataflowPiece
    from tensorloom.worker.compile.piece import Piece

# What a piece raises when another one failed or the step was cancelled.
_FOLLOWS = (errors.CancelledError, errors.AbortedError)


class Step:
    """The state that the pieces of one step share."""

    def __init__(
        self,
        resources: ResourceManager,
        step_id: int = 0,
        rendezvous: Rendezvous | None = None,
    ) -> None:
        self.step_id = step_id or new_step_id()
        self.rendezvous = rendezvous or Rendezvous()
        self.cancellation = CancellationManager()
        self.resources = resources
        self.container = f"__per_step_{self.step_id}"
        self.is_over = False

    def context(self, device: str) -> OpKernelContext:
        """What the kernels of a piece may know of the step."""
        return OpKernelContext(
            self.step_id,
            device,
            self.rendezvous,
            self.cancellation,
            self.resources,
            self.container,
        )

    def finish(self) -> None:
        """Frees what belonged to the step alone."""
        self.is_over = True
        if self.resources.has_container(self.container):
            self.resources.cleanup([self.container])


class TracingContext(OpKernelContext):
    """A context that records when each node of a piece ran."""

    __slots__ = ("_epoch", "metadata", "nodes")

    def __init__(
        self, context: OpKernelContext, nodes: Sequence[Node], metadata: StepMetadata
    ) -> None:
        super().__init__(
            context.step_id,
            context.device,
            context.rendezvous,
            context.cancellation,
            context.resources,
            context.step_container,
        )
        self.nodes = nodes
        self.metadata = metadata
        self._epoch = time.time_ns() - time.perf_counter_ns()

    def record(
        self, index: int, start_ns: int, outputs: list[Any], inputs: list[Any]
    ) -> None:
        """Called by the traced source after each node; None is a value it has not."""
        end_ns = time.perf_counter_ns()
        node = self.nodes[index]
        known = itertools.zip_longest(
            node.output_types, node.output_shapes or (), outputs
        )
        # A fed value's memory is the caller's.
        mine = outputs if node.op == "_Arg" else inputs
        used = {_storage(value) for value in mine}
        new = {_storage(value): _size(value) for value in outputs}
        self.metadata.node_stats.append(
            NodeStats(
                self.device,
                node.name,
                node.op,
                start_ns + self._epoch,
                end_ns + self._epoch,
                threading.get_ident() & 0xFFFFFFFF,
                tuple(_described(*output) for output in known if output[0] is not None),
                f"{node.name} = {node.op}({', '.join(_inputs(node))})",
                sum(size for place, size in new.items() if place not in used),
                tuple(_buffer(value) for value in outputs),
            )
        )


def _inputs(node: Node) -> list[str]:
    """The data inputs of a node; `x` for `x:0`."""
    return [f"{name}:{slot}" if slot else name for name, slot in node.inputs]


def _described(
    dtype: dtypes.DType, shape: TensorShape | None, value: Any
) -> tuple[str, tuple[int, ...], int]:
    """(dtype, shape, bytes) of an output: of its value, or as far as the graph says."""
    name = dtype.base_dtype.name
    if hasattr(value, "nbytes"):
        return name, tuple(value.shape), _size(value)
    if shape is None or shape.dims_tuple is None:
        return name, (), 0
    sizes = tuple(-1 if size is None else size for size in shape.dims_tuple)
    elements = shape.num_elements()
    return name, sizes, 0 if elements is None else elements * max(0, dtype.size or 0)


def _size(value: Any) -> int:
    """The bytes of a tensor; 0 of what is none."""
    return int(getattr(value, "nbytes", 0))


def _storage(value: Any) -> int:
    """Where the memory is that a tensor is in, or is a part of."""
    if hasattr(value, "untyped_storage"):
        return int(value.untyped_storage().data_ptr())
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else id(value)


def _buffer(value: Any) -> tuple[str, int, int]:
    """The memory that a value is in; see `NodeStats.buffers`."""
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        return "device", int(storage.data_ptr()), int(storage.nbytes())
    if isinstance(value, np.ndarray | np.generic):
        while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
            value = value.base
        return "host", _storage(value), int(value.nbytes)
    if isinstance(value, Variable) and value.value is not None:
        return "variable", *_buffer(value.value)[1:]
    return "", 0, 0


def run_pieces(
    pieces: Sequence[Piece | DataflowPiece],
    feeds: Sequence[Any],
    step: Step,
    metadata: StepMetadata | None = None,
) -> dict[int, Any]:
    """Runs all pieces of a step; returns the fetches by index.

    Raises:
      errors.OpError: the first error of a piece, or why the step was cancelled.
    """
    if len(pieces) == 1 and metadata is None:
        return _run_single(pieces[0], feeds, step)
    results: dict[int, Any] = {}
    failures: list[Exception] = []
    pending = concurrency.Semaphore(0)

    def run(piece: Piece | DataflowPiece) -> None:
        context = step.context(piece.device.name)
        if metadata is not None:
            context = TracingContext(context, piece.traced_nodes, metadata)
        try:
            values = piece.run(feeds, context)
            results.update(zip(piece.result_indices, values, strict=True))
        except Exception as error:
            failures.append(error)
            step.cancellation.cancel(error)
        finally:
            pending.release()

    for piece in pieces[1:]:
        threads.start(lambda piece=piece: run(piece))  # type: ignore[misc]
    run(pieces[0])
    for _ in pieces:
        pending.acquire()
    step.finish()
    cause = step.cancellation.cause
    if isinstance(cause, Exception):
        # The first cause; what the other pieces raised follows from it.
        raise next((f for f in failures if _is_cause(f, cause)), cause)
    if failures:
        raise failures[0]
    return results


def _run_single(
    piece: Piece | DataflowPiece, feeds: Sequence[Any], step: Step
) -> dict[int, Any]:
    """What `run_pieces` does, for the piece of a step that has only one."""
    try:
        values = piece.run(feeds, step.context(piece.device.name))
    except Exception as error:
        step.cancellation.cancel(error)
        cause = step.cancellation.cause
        if isinstance(cause, Exception) and not _is_cause(error, cause):
            raise cause from None
        raise
    finally:
        step.finish()
    cause = step.cancellation.cause
    if isinstance(cause, Exception):
        raise cause
    return dict(zip(piece.result_indices, values, strict=True))


def _is_cause(failure: Exception, cause: Exception) -> bool:
    if failure is cause or getattr(failure, "raised", None) is cause:
        return True
    if isinstance(cause, errors.CancelledError) and isinstance(
        failure, errors.CancelledError
    ):
        # The session was closed: an op that waited says that it was cancelled.
        return failure.message.partition("\n")[0].endswith("operation was cancelled")
    return type(failure) is type(cause) and not isinstance(failure, _FOLLOWS)
