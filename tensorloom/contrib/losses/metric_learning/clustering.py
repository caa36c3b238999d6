"""The loss of a clustering (https://arxiv.org/abs/1612.01213).

The search for the centroids is done over NumPy values in one call: its results are
numbers of rows, through which no gradient goes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.contrib.losses.metric_learning.distances import pairwise_distance
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape, size
from tensorloom.ops.control_flow.script import py_func
from tensorloom.ops.debugging.logging import print_v1
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.reductions.reductions import reduce_min, reduce_sum
from tensorloom.ops.reductions.segment import unsorted_segment_min
from tensorloom.summary import summary

Array = np.ndarray[Any, Any]
Score = Callable[[Array, Array], float]

# By margin_type, the function of `sklearn.metrics`.
_SCORES: Final = {
    "nmi": "normalized_mutual_info_score",
    "ami": "adjusted_mutual_info_score",
    "ari": "adjusted_rand_score",
    "vmeasure": "v_measure_score",
}
_REFINEMENTS: Final = 5


def _score_of(margin_type: str) -> Score:
    """How well two clusterings agree, from 0 to 1."""
    if margin_type == "const":
        return lambda labels, clusters: float(np.array_equal(labels, clusters))
    if margin_type not in _SCORES:
        raise ValueError(
            f"Unrecognized margin_type: {margin_type}; there are const, "
            f"{', '.join(_SCORES)}"
        )
    try:
        from sklearn import metrics
    except ImportError:
        raise ImportError("Cluster loss depends on sklearn.") from None
    function = getattr(metrics, _SCORES[margin_type])
    return lambda labels, clusters: max(0.0, float(function(labels, clusters)))


# --- the search ---------------------------------------------------------------


def _clusters(distances: Array, centroids: Array) -> Array:
    """The nearest centroid of each row; of a centroid, always itself."""
    nearest: Array = distances[centroids].argmin(0)
    nearest[centroids] = np.arange(len(centroids))
    return nearest


def _best(
    candidates: Array,
    energies: Array,
    with_candidate: Callable[[int], Array],
    distances: Array,
    labels: Array,
    multiplier: float,
    score: Score,
) -> int:
    """The candidate of the greatest energy and margin."""
    margins = [
        1.0 - score(labels, _clusters(distances, with_candidate(candidate)))
        for candidate in candidates
    ]
    totals = energies + np.float32(multiplier) * np.asarray(margins, np.float32)
    return int(candidates[totals.argmax()])


def _search(
    distances: Array, labels: Array, *, multiplier: float, score: Score, refines: bool
) -> Array:
    """The rows that are centroids, one for each class of the labels."""
    classes = len(np.unique(labels))
    chosen = np.zeros([0], np.int32)
    for _ in range(classes):
        candidates = np.setdiff1d(np.arange(len(labels), dtype=np.int32), chosen)
        reached = distances[candidates]
        if len(chosen):
            reached = np.minimum(reached, distances[chosen].min(0))
        found = _best(
            candidates,
            -reached.sum(1),
            functools.partial(_with, chosen),
            distances,
            labels,
            multiplier,
            score,
        )
        chosen = np.append(chosen, np.int32(found))
    for _ in range(_REFINEMENTS if refines else 0):
        clusters = _clusters(distances, chosen)
        for number in range(classes):
            members = np.flatnonzero(clusters == number)
            chosen[number] = _best(
                members,
                -distances[np.ix_(members, members)].sum(0),
                functools.partial(_replaced, chosen, number),
                distances,
                labels,
                multiplier,
                score,
            )
    return chosen


def _with(centroids: Array, row: int) -> Array:
    return np.append(centroids, np.int32(row))


def _replaced(centroids: Array, number: int, row: int) -> Array:
    result = centroids.copy()
    result[number] = row
    return result


# --- the loss -----------------------------------------------------------------


def _true_score(distances: Any, labels: Any) -> Any:
    """Minus the distances to the best centroid of each class, summed."""
    alike = equal(expand_dims(labels, 0), expand_dims(labels, 1))
    within = reduce_sum(distances * cast(alike, dtypes.float32), axis=0)
    classes, numbers = unique(labels)
    return -reduce_sum(unsorted_segment_min(within, numbers, size(classes)))


@export("contrib.losses.metric_learning.cluster_loss")
def cluster_loss(
    labels: Any,
    embeddings: Any,
    margin_multiplier: float,
    enable_pam_finetuning: bool = True,
    margin_type: str = "nmi",
    print_losses: bool = False,
) -> Any:
    """How much better the worst clustering looks than the one of the labels.

    Args:
      labels: `[batch, 1]`, the classes.
      embeddings: `[batch, depth]`, of norm 1.
      margin_multiplier: the weight of how far a clustering is from the labels.
      enable_pam_finetuning: whether the centroids found are refined.
      margin_type: how that is measured: "nmi", "ami", "ari", "vmeasure" or "const".
      print_losses: whether the loss is printed in each step.

    Raises:
      ImportError: scikit-learn is not there, and the measure is not "const".
      ValueError: another measure.
    """
    score = _score_of(margin_type)
    distances = pairwise_distance(embeddings)
    labels = reshape(labels, [-1])
    search = functools.partial(
        _search,
        multiplier=float(margin_multiplier),
        score=score,
        refines=enable_pam_finetuning,
    )
    centroids = py_func(search, [distances, labels], dtypes.int32, name="centroids")
    centroids.set_shape([None])
    energy = -reduce_sum(reduce_min(gather(distances, centroids), axis=0))

    def score_of_found(distances: Array, labels: Array, centroids: Array) -> Any:
        return np.float32(score(labels, _clusters(distances, centroids)))

    agreement = py_func(
        score_of_found, [distances, labels, centroids], dtypes.float32, name=margin_type
    )
    agreement.set_shape([])
    truth = _true_score(distances, labels)
    loss = maximum(
        energy + margin_multiplier * (1.0 - agreement) - truth,
        0.0,
        name="clustering_loss",
    )
    loss.set_shape([])
    if print_losses:
        loss = print_v1(loss, ["clustering_loss: ", loss, shape(loss)])
    summary.scalar("losses/score_pred", energy)
    summary.scalar(f"losses/{margin_type}", agreement)
    summary.scalar("losses/score_gt", truth)
    return loss
