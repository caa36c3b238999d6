"""The area under the ROC curve, of histograms of the scores of both classes."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program.confusion_matrix import remove_squeezable_dimensions
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import Assert, group
from tensorloom.ops.math import math_ops
from tensorloom.ops.reductions.histogram import histogram_fixed_width
from tensorloom.ops.state.initializers import Zeros


@export(
    "contrib.metrics.auc_using_histogram", "contrib.slim.metrics.auc_using_histogram"
)
def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The area under the ROC curve, of scores in bins.

    From "Efficient AUC Learning Curve Calculation" by R. R. Bouckaert, 2006.

    Args:
      boolean_labels: bools `[batch]`.
      scores: numbers `[batch]`.
      score_range: the least and the most that they should be; others count as these.
      nbins: how many bins there are.
      collections: of the histograms; LOCAL_VARIABLES when None.
      check_shape: whether ranks are checked when the graph runs.
      name: of the variable scope.

    Returns:
      The area, float32, and the operation that takes a batch in.

    Raises:
      ValueError: the labels are no bools.
    """
    if collections is None:
        collections = [GraphKeys.LOCAL_VARIABLES]
    with variable_scope(
        name, "auc_using_histogram", [boolean_labels, scores, score_range]
    ):
        scores, boolean_labels = remove_squeezable_dimensions(scores, boolean_labels)
        score_range = convert_to_tensor(score_range, name="score_range")
        labels, scores = _checked(boolean_labels, scores, check_shape)
        with variable_scope(None, "make_auc_histograms", [labels, scores, nbins]):
            counts = [
                histogram_fixed_width(
                    array_ops.boolean_mask(scores, mask),
                    score_range,
                    nbins=nbins,
                    dtype=dtypes.int64,
                    name=title,
                )
                for title, mask in (
                    ("hist_true", labels),
                    ("hist_false", math_ops.logical_not(labels)),
                )
            ]
        with variable_scope(None, "hist_accumulate", counts):
            totals = [
                get_variable(
                    title,
                    shape=[nbins],
                    dtype=dtypes.int64,
                    initializer=Zeros(),
                    collections=collections,
                    trainable=False,
                )
                for title in ("hist_true_acc", "hist_false_acc")
            ]
            updates = [
                total.assign_add(count)
                for total, count in zip(totals, counts, strict=True)
            ]
            update = group(*updates, name="update_op")
        return _area(*totals), update


def _checked(labels: Any, scores: Any, check_shape: bool) -> tuple[Any, Any]:
    with name_scope("_check_labels_and_scores", values=[labels, scores]):
        labels = convert_to_tensor(labels, name="boolean_labels")
        scores = convert_to_tensor(scores, name="scores")
        if labels.dtype != dtypes.bool:
            raise ValueError(
                "Argument boolean_labels should have dtype bool.  Found: "
                f"{labels.dtype}"
            )
        if not check_shape:
            return labels, scores
        checks = [
            Assert(
                math_ops.equal(1, array_ops.rank(tensor)),
                [
                    f"Argument {title} should have rank 1.  Found: ",
                    tensor.name,
                    array_ops.shape(tensor),
                ],
            )
            for title, tensor in (("boolean_labels", labels), ("scores", scores))
        ]
        with control_dependencies(checks):
            return array_ops.identity(labels), array_ops.identity(scores)


def _area(true: Any, false: Any) -> Any:
    """The trapezoids below the shares of both classes, from the highest scores down."""
    shares = [
        math_ops.cast(
            array_ops.reverse(
                math_ops.truediv(counts, math_ops.reduce_sum(counts)), [0], name=title
            ),
            dtypes.float32,
        )
        for title, counts in (("delta_y_t", true), ("delta_x_t", false))
    ]
    y, widths = math_ops.cumsum(shares[0]), shares[1]
    first = widths[0] * y[0] / 2.0
    others = widths[1:] * (y[1:] + y[:-1]) / 2.0
    return math_ops.add(first, math_ops.reduce_sum(others), name="auc")
