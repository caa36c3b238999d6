"""Which leaf of a decision tree each example reaches, by the splits on its way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_ROOT = np.int32(0)


@loop
def follow(
    first: int,
    end: int,
    columns: Any,
    trees: Any,
    nodes: Any,
    pending: Any,
    total: Any,
    starts: Any,
    weights: Any,
    column: Any,
    threshold: Any,
    is_equality: Any,
    left: Any,
    right: Any,
    logits: Any,
) -> bool:
    """Adds up the logits of the leaves of some examples; False if a tree has a cycle.

    The nodes of all trees stand one after the other.

    Args:
      first, end: the examples.
      columns: float64 [examples, columns]: the values of the features.
      trees: int32 [examples]: the tree that an example is in.
      nodes: int32 [examples]: its node there. It becomes that of the last tree.
      pending: float32 [examples, dimensions], added to the logits of that tree.
      total: float32 [examples, dimensions], what is added to.
      starts: int64 [trees + 1]: the first node of each tree.
      weights: float32 [trees].
      column: int32 [nodes]: the column that a split asks for; -1 of a leaf.
      threshold: float64 [nodes]; a value that is not above it goes to the left.
      is_equality: bool [nodes]: whether only an equal value goes to the left.
      left, right: int32 [nodes], numbers in the tree.
      logits: float32 [nodes, dimensions].
    """
    last = len(weights) - 1
    dimensions = logits.shape[1]
    for i in range(first, end):
        node = nodes[i]
        for tree in range(trees[i], last + 1):
            start = starts[tree]
            most = starts[tree + 1] - start
            steps = 0
            while column[start + node] >= 0:
                if steps > most:
                    return False
                at = start + node
                value = columns[i, column[at]]
                if is_equality[at]:
                    goes_left = value == threshold[at]
                else:
                    goes_left = value <= threshold[at]
                node = left[at] if goes_left else right[at]
                steps += 1
            for k in range(dimensions):
                gain = logits[start + node, k]
                if tree == trees[i]:
                    gain = pending[i, k] + gain
                total[i, k] += weights[tree] * gain
            if tree == last:
                nodes[i] = node
            node = _ROOT
    return True
