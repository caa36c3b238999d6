"""Sparsemax: logits projected onto the simplex of probabilities.

Martins and Astudillo, "From softmax to sparsemax", 2016, arXiv:1602.02068: algorithm 1,
and the loss of section 3.2.
"""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.fill import fill, zeros_like
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, logical_and, logical_or
from tensorloom.ops.math.elementwise import is_inf, is_nan
from tensorloom.ops.math.sequence import range as range_of
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.reductions.scan import cumsum


@export("contrib.sparsemax.sparsemax")
def sparsemax(logits: Any, name: str | None = None) -> Any:
    """The nearest probabilities to each row of logits.

    Args:
      logits: `[rows, classes]`, half, float32 or float64.
      name: of the operations.

    Returns:
      Probabilities of that shape and dtype; NaN in rows that have NaN or only -inf.
    """
    with name_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        rows, classes = shape(logits)[0], shape(logits)[1]
        largest_first, _ = top_k(logits, k=classes)
        sums = cumsum(largest_first, axis=1)
        counts = range_of(1, cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        in_support = 1 + counts * largest_first > sums
        size = reduce_sum(cast(in_support, "int32"), axis=1)
        # A row without a support would be read before its first element.
        last = maximum(size, 1) - 1
        places = stack([range_of(0, rows), reshape(last, [-1])], axis=1)
        threshold = (gather_nd(sums, places) - 1) / cast(size, logits.dtype)
        projected = maximum(cast(0, logits.dtype), logits - expand_dims(threshold, 1))
        is_undefined = logical_or(equal(size, 0), is_nan(sums[:, -1]))
        undefined = fill([rows, classes], cast(float("nan"), logits.dtype))
        return where(is_undefined, undefined, projected)


@export("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(
    logits: Any, sparsemax: Any, labels: Any, name: str | None = None
) -> Any:
    """The loss of each row.

    Args:
      logits: `[rows, classes]`.
      sparsemax: what `sparsemax` makes of them.
      labels: probabilities of that shape.
      name: of the operations.

    Returns:
      `[rows]`.
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = convert_to_tensor(logits, name="logits")
        sparsemax = convert_to_tensor(sparsemax, name="sparsemax")
        labels = convert_to_tensor(labels, name="labels")
        in_support = logical_or(sparsemax > 0, is_nan(sparsemax))
        gained = where(
            in_support, sparsemax * (logits - 0.5 * sparsemax), zeros_like(sparsemax)
        )
        wanted = labels * (0.5 * labels - logits)
        # 0 * inf is no number.
        is_unused = logical_and(equal(labels, 0), is_inf(logits))
        return reduce_sum(gained + where(is_unused, zeros_like(wanted), wanted), axis=1)
