"""`tf.nondifferentiable_batch_function`: calls of many steps computed together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.functions.function import Defun
from tensorloom.framework.export import export
from tensorloom.framework.functions.python_conversion import traced_function
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array import array_ops


@export("nondifferentiable_batch_function")
def batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function of tensors: concurrent steps share one call of it.

    Rows of the arguments are joined along dimension 0, and those of the results handed
    out again.

    Args:
      num_batch_threads: kept for compatibility; each batch runs in a thread of one of
        its steps.
      max_batch_size: the most rows of a batch.
      batch_timeout_micros: how long a batch waits for more rows.
      allowed_batch_sizes: sizes to which batches are filled up; the last is
        `max_batch_size`.
      max_enqueued_batches: more than these that wait are refused.
      autograph: whether `if` and loops over tensors become those of the graph.
    """

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        def decorated(*args: Any) -> Any:
            for arg in args:
                if not isinstance(arg, Tensor):
                    raise ValueError(
                        "All arguments to functions decorated with `batch_function`  "
                        f"are supposed to be Tensors; found {arg!r}"
                    )
            shapes = [arg.shape for arg in args]

            def shaped(*inputs: Tensor) -> Any:
                # What the body sees has the static shapes of the arguments.
                copies = [array_ops.identity(value) for value in inputs]
                for copy, shape in zip(copies, shapes, strict=True):
                    copy.set_shape(shape)
                return traced_function(fn, autograph)(*copies)

            shaped.__name__ = getattr(fn, "__name__", "computation")
            computation: Any = Defun(*[arg.dtype for arg in args])(shaped)
            definition = computation._definition()
            with name_scope("batch") as scope:
                return apply_op(
                    "BatchFunction",
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=allowed_batch_sizes or [],
                    max_enqueued_batches=max_enqueued_batches,
                    shared_name=scope,
                    f=computation,
                    in_tensors=list(args),
                    captured_tensors=list(computation.captured_inputs),
                    Tout=list(definition.output_types),
                )

        return decorated

    return decorator
