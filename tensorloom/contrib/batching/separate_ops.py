"""`batch_function_v1`: calls of several steps made together, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op

_MINUTE = 60 * 1000 * 1000


def batch_function_v1(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    grad_timeout_micros: int = _MINUTE,
    unbatch_timeout_micros: int = _MINUTE,
    max_enqueued_batches: int = 10,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions of tensors: calls in several steps become one.

    Args:
      num_batch_threads: how many batches are computed at a time.
      max_batch_size: how many rows a batch has at most.
      batch_timeout_micros: how long a batch waits for more, in microseconds.
      allowed_batch_sizes: to which batches are padded.
      grad_timeout_micros, unbatch_timeout_micros: how long parts wait for the others.
      max_enqueued_batches: how many wait at most.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            with name_scope("batch") as scope:
                for one in args:
                    if not isinstance(one, Tensor):
                        raise ValueError(
                            "All arguments to functions decorated with "
                            "`batch_function`  are supposed to be Tensors; found "
                            f"{one!r}"
                        )
                batched, index, number = apply_op(
                    "Batch",
                    in_tensors=list(args),
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=list(allowed_batch_sizes or []),
                    grad_timeout_micros=grad_timeout_micros,
                    shared_name=scope,
                )
                outputs = function(*batched)
                listed = [outputs] if isinstance(outputs, Tensor) else outputs
                with name_scope("unbatch") as inner:
                    parts = [
                        apply_op(
                            "Unbatch",
                            batched_tensor=one,
                            batch_index=index,
                            id=number,
                            timeout_micros=unbatch_timeout_micros,
                            shared_name=f"{inner}/{one.name}",
                        )
                        for one in listed
                    ]
                return parts[0] if isinstance(outputs, Tensor) else parts

        return call

    return decorator
