"""Checks of a leaf's candidates before it has seen all: the worst go, the best may win.

By Hoeffding's bound (Domingos and Hulten, "Mining High-Speed Data Streams", 2000), or
by shares of the candidates.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.tensor_forest.parameters import at_depth

if TYPE_CHECKING:
    from tensorloom.kernels.host.tensor_forest.parameters import Parameters

_Array = NDArray[Any]
_F = np.float32
_NO_PRUNING, _HALF, _QUARTER, _TENTH, _PRUNE_HOEFFDING = range(5)
_BASIC, _HOEFFDING = 0, 2
_SHARES: Final = {_HALF: _F(0.5), _QUARTER: _F(0.25), _TENTH: _F(0.1)}


class CandidateChecks:
    """When candidates are removed, and when a leaf is split early.

    Args:
      parameters: of the forest.
      depth: of the leaf.

    Raises:
      errors.InvalidArgumentError: an early end lacks a setting, or one is impossible.
    """

    def __init__(self, parameters: Parameters, depth: int) -> None:
        proto = parameters.proto
        self._classes = parameters.outputs
        self._pruning = proto.pruning_type.type
        self._ending = proto.finish_type.type
        self._sure = 0.0
        if self._ending != _BASIC or self._pruning == _PRUNE_HOEFFDING:
            self._sure = at_depth(proto.dominate_fraction, depth)
            if not 0 < self._sure <= 1:
                raise invalid_argument(f"Invalid dominate fraction {self._sure}")
        if self._ending != _BASIC:
            if not proto.HasField("min_split_samples"):
                raise invalid_argument(
                    "dominate_fraction and min_split_samples required for early-finish "
                    "strategy."
                )
            self._least = int(at_depth(proto.min_split_samples, depth))
            every = int(at_depth(proto.finish_type.check_every_steps, depth))
            self._end_every = max(1, every)
            self._end_epoch = self._least // self._end_every
        if self._pruning != _NO_PRUNING:
            every = int(at_depth(proto.pruning_type.prune_every_samples, depth))
            self._prune_every = max(1, every)
            self._prune_epoch = 1

    def ends(self, weight: Any, scores: _Array) -> bool:
        """Whether the best candidate is so much better that the leaf is split.

        Args:
          weight: what the leaf has seen.
          scores: float32 [candidates], the lower the better.
        """
        if self._ending == _BASIC or weight < max(
            self._least, self._end_epoch * self._end_every
        ):
            return False
        self._end_epoch += 1
        if self._ending != _HOEFFDING:
            # TensorFlow compares what new samples score with the wrong sign: it never
            # ends a leaf early by them.
            return False
        if len(scores) < 2:
            return len(scores) == 1
        best, second = np.sort(scores)[:2]
        reach = _F(0.25) * _F(self._classes) * _F(weight)
        bound = _F(reach * math.sqrt(self._logarithm() / (2.0 * weight)))
        return bool(second - best > bound)

    def _logarithm(self) -> float:
        return math.inf if self._sure == 1 else math.log(1.0 / (1.0 - self._sure))

    def removed(self, weight: Any, scores: _Array) -> list[int]:
        """The candidates that go.

        Args:
          weight: what the leaf has seen.
          scores: float32 [candidates], the lower the better.
        """
        if self._pruning == _NO_PRUNING or (
            weight < self._prune_epoch * self._prune_every
        ):
            return []
        self._prune_epoch += 1
        if not len(scores):
            return []
        if self._pruning == _PRUNE_HOEFFDING:
            reach = _F(weight) * _F(1.0 - 1.0 / self._classes)
            half = _F(0.5 * self._logarithm())
            above = scores - scores.min() > reach * np.sqrt(half / _F(weight))
            return [int(place) for place in np.flatnonzero(above)]
        count = int(_F(len(scores)) * _SHARES[self._pruning])
        # In TensorFlow's way, which decides between equal scores.
        worst = [(float(score), place) for place, score in enumerate(scores[:count])]
        heapq.heapify(worst)
        for place, score in enumerate(scores[count:].tolist(), count):
            if worst and worst[0][0] < score:
                heapq.heapreplace(worst, (score, place))
        return sorted(place for _, place in worst)


def checks_of(parameters: Parameters, depth: int) -> CandidateChecks | None:
    """The checks of a leaf; None where there are none to do."""
    proto = parameters.proto
    if proto.pruning_type.type == _NO_PRUNING and proto.finish_type.type == _BASIC:
        return None
    return CandidateChecks(parameters, depth)
