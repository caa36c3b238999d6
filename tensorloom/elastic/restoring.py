"""Gives shards whose server was lost their newest values that somebody still has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.elastic.shards import shard_of
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.train.checkpoints import checkpoint_management

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session
    from tensorloom.framework.graph.graph import Graph, Operation

#: The initializers of what the job itself has on shards; no checkpoint has that.
JOB_STATE: Final = "elastic_job_state"
_VARIABLES: Final = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
)


@dataclass(frozen=True)
class Model:
    """How the variables of a graph get values.

    Args:
      graph: it is finalized.
      saver: a `tf.train.Saver`, or None.
      checkpoint_dir: where its checkpoints are, or None.
      init_feed_dict: what initializers are fed.
    """

    graph: Graph
    saver: Any
    checkpoint_dir: Any
    init_feed_dict: Any = None

    def begin(self, session: Session) -> None:
        """Makes what the job itself has on shards, before anybody trains.

        Args:
          session: of the graph.

        Raises:
          errors.OpError: a task was lost.
        """
        initializers = self.graph.get_collection(JOB_STATE)
        if initializers:
            session.run(initializers)

    def restore(self, session: Session, shards: Collection[int]) -> str | None:
        """Gives the variables of shards the values of the last checkpoint.

        Those that it does not have, all without a checkpoint, get their initial ones.

        Args:
          session: of the graph, in which the shards have their new homes.
          shards: which.

        Returns:
          The checkpoint.

        Raises:
          errors.OpError: a task was lost, or a file is.
        """
        initializers = list(self._initializers(shards))
        if initializers:
            session.run(initializers, self.init_feed_dict)
        checkpoint = self.newest_checkpoint()
        if checkpoint is None:
            return None
        restores = list(self._restores(shards))
        if restores:
            filename = self.saver.saver_def.filename_tensor_name
            session.run(restores, {filename: checkpoint})
        return checkpoint

    def newest_checkpoint(self) -> str | None:
        """The prefix of the last checkpoint, if there is one."""
        if self.saver is None or not self.checkpoint_dir:
            return None
        return checkpoint_management.latest_checkpoint(self.checkpoint_dir)

    def _initializers(self, shards: Collection[int]) -> Iterator[Operation]:
        seen = set()
        for key in _VARIABLES:
            for variable in self.graph.get_collection(key):
                if variable.name in seen or shard_of(variable.device) not in shards:
                    continue
                seen.add(variable.name)
                yield variable.initializer
        for key in (GraphKeys.TABLE_INITIALIZERS, JOB_STATE):
            for op in self.graph.get_collection(key):
                if shard_of(op.device) in shards:
                    yield op

    def _restores(self, shards: Collection[int]) -> Iterator[Operation]:
        """The saver's operations that assign to what is in these shards."""
        name = self.saver.saver_def.restore_op_name
        waiting: list[Operation] = [self.graph.get_operation_by_name(name)]
        seen = set(waiting)
        while waiting:
            op = waiting.pop()
            if op.type == "NoOp":
                more = [one for one in op.control_inputs if one not in seen]
                seen.update(more)
                waiting += more
            elif shard_of(op.device) in shards:
                yield op


def report(
    lost: Collection[int], servers: Sequence[int], checkpoint: str | None
) -> None:
    """Says what became of the shards of servers that were lost."""
    source = checkpoint or "their initializers: there is no checkpoint"
    program_log.warning(
        "Parameter servers %s were lost. Their shards, %d, are restored from %s; all "
        "others are as they were.",
        ", ".join(map(str, servers)),
        len(lost),
        source,
    )
