"""The steps of a linear-chain CRF's algorithms, as cells of `tf.nn.dynamic_rnn`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.sequence import range as sequence
from tensorloom.ops.reductions.reductions import argmax, reduce_logsumexp, reduce_max


class _TransitionCell(RNNCell):
    """A step forward: its state has a score for each tag."""

    def __init__(self, transition_params: Any) -> None:
        """Makes the cell.

        Args:
          transition_params: a tensor [num_tags, num_tags]: the score of each step from
            a tag (row) to a tag (column).
        """
        super().__init__()
        self._num_tags = dimension_value(transition_params.shape[0])
        self._transition_params = expand_dims(transition_params, 0)

    @property
    def state_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    def _paths(self, state: Any) -> Any:
        """Scores [batch, from, to] of paths that go one step further."""
        return expand_dims(state, 2) + self._transition_params


@export("contrib.crf.CrfForwardRnnCell")
class CrfForwardRnnCell(_TransitionCell):
    """A step of the forward algorithm: the logarithms of the sums over all paths."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """The sums one step later.

        Args:
          inputs: [batch, num_tags]: the scores of the tags at this step.
          state: [batch, num_tags]: the sums over the paths up to the step before.
          scope: not used.

        Returns:
          (sums, sums), each [batch, num_tags].
        """
        sums = inputs + reduce_logsumexp(self._paths(state), [1])
        return sums, sums


@export("contrib.crf.CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(_TransitionCell):
    """A step of the Viterbi algorithm: the best path that ends in each tag."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """The best paths one step later.

        Args:
          inputs: [batch, num_tags]: the scores of the tags at this step.
          state: [batch, num_tags]: the scores of the best paths so far.
          scope: not used.

        Returns:
          (the tag before in each best path, int32; the scores), each [batch, num_tags].
        """
        paths = self._paths(state)
        scores = inputs + reduce_max(paths, [1])
        return cast(argmax(paths, 1), dtypes.int32), scores


@export("contrib.crf.CrfDecodeBackwardRnnCell")
class CrfDecodeBackwardRnnCell(RNNCell):
    """A step back along the best path, from the last tag to the first."""

    def __init__(self, num_tags: int) -> None:
        """Makes the cell.

        Args:
          num_tags: how many tags there are.
        """
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """1: a tag."""
        return 1

    @property
    def output_size(self) -> int:
        """1: a tag."""
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """The tag one step earlier.

        Args:
          inputs: int32 [batch, num_tags]: the tag before each tag.
          state: int32 [batch, 1]: the tag at this step.
          scope: not used.

        Returns:
          (tag, tag), each int32 [batch, 1].
        """
        tags = squeeze(state, axis=[1])
        rows = sequence(shape(inputs)[0])
        earlier = gather_nd(inputs, stack([rows, tags], axis=1))
        earlier = expand_dims(earlier, axis=-1)
        return earlier, earlier
