"""The Levenshtein distance of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.sparse_tensor import SparseTensor, SparseTensorValue
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _check_sparse(c: InferenceContext, first: int) -> int | None:
    """The rank that the parts of a sparse tensor agree on, if it is known."""
    indices = c.with_rank(first, 2).dims_tuple or (None, None)
    (count,) = c.with_rank(first + 1, 1).dims_tuple or (None,)
    (rank,) = c.with_rank(first + 2, 1).dims_tuple or (None,)
    if None not in (indices[0], count) and indices[0] != count:
        c.fail(
            f"Number of elements in index ({indices[0]}) and values ({count}) do not "
            "match."
        )
    if None not in (indices[1], rank) and indices[1] != rank:
        c.fail(f"Index rank ({indices[1]}) and shape rank ({rank}) do not match.")
    return rank


def _edit_distance_shape(c: InferenceContext) -> TensorShape:
    ranks = [_check_sparse(c, first) for first in (0, 3)]
    if None not in ranks and ranks[0] != ranks[1]:
        c.fail(
            "Num elements of hypothesis_shape does not match truth_shape: "
            f"{ranks[0]} vs. {ranks[1]}"
        )
    hypothesis, truth = c.input_value(2), c.input_value(5)
    if hypothesis is None or truth is None or len(hypothesis) != len(truth):
        return UNKNOWN
    pairs = zip(hypothesis[:-1].tolist(), truth[:-1].tolist(), strict=True)
    return TensorShape.of(tuple(max(pair) for pair in pairs))


register_op(
    "EditDistance",
    inputs=[
        "hypothesis_indices: int64",
        "hypothesis_values: T",
        "hypothesis_shape: int64",
        "truth_indices: int64",
        "truth_values: T",
        "truth_shape: int64",
    ],
    outputs=["output: float"],
    attrs=["normalize: bool = true", "T: type"],
    shape_fn=_edit_distance_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="How many insertions, deletions and replacements make one sequence the other.",
)


@export("edit_distance")
def edit_distance(
    hypothesis: Any,
    truth: Any,
    normalize: bool = True,
    name: str = "edit_distance",
) -> Tensor:
    """The distance of each pair of sequences along the last axis, float32.

    Args:
      hypothesis, truth: SparseTensors of one dtype and rank.
      normalize: divides by the length of the true sequence.

    Raises:
      TypeError: not sparse tensors.
    """
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor.")
    return apply_op(  # type: ignore[no-any-return]
        "EditDistance",
        hypothesis_indices=hypothesis.indices,
        hypothesis_values=hypothesis.values,
        hypothesis_shape=hypothesis.dense_shape,
        truth_indices=truth.indices,
        truth_values=truth.values,
        truth_shape=truth.dense_shape,
        normalize=normalize,
        name=name,
    )
