"""A served model that takes over what its training saves, without being loaded again.

    VERSION/assets.extra/tensorloom_follow     a line: the directory of checkpoints

The variables get the values of the directory's last checkpoint. Of increments that
follow it (`dynamic_embedding.IncrementalSaver`) only the rows are read that they have.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.graph.graph import colocate_with, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.storage.checkpoints import increments
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import checkpoint_management

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.storage.checkpoints.increments import Increment

#: A version with this file follows the checkpoints of the directory that it names,
#: which may be relative to the version's.
FILE: Final = "assets.extra/tensorloom_follow"
_RESTORE: Final = "DynamicEmbeddingRestore"
_logger = logging.getLogger("tensorloom.serving")


def followed_directory(path: str) -> str | None:
    """The directory whose checkpoints a version follows; None if it follows none.

    Args:
      path: the version's directory.

    Raises:
      ValueError: its file names no directory.
      errors.OpError: it cannot be read.
    """
    file = filesystem.join(path, FILE)
    if not filesystem.exists(file):
        return None
    named = filesystem.read_file(file).decode().strip()
    if not named:
        raise ValueError(f"{file} is empty: it has to name a directory of checkpoints")
    return filesystem.join(path, named)


class FollowedCheckpoints:
    """Keeps the variables of a session at the last checkpoint, and its increments.

    Requests go on meanwhile. A table of rows changes as a whole; a request that comes
    while several tables and variables change may read some as they were before.

    Args:
      name: of the model and version, for messages.
      session: in which a SavedModel is loaded.
      saver_def: the model's; a model without variables follows nothing.
      directory: of the checkpoints.

    Raises:
      ValueError: the model has no variables.
    """

    def __init__(
        self, name: str, session: Session, saver_def: Any, directory: str
    ) -> None:
        if not saver_def.restore_op_name:
            raise ValueError(f"{name} has no variables that could follow {directory}")
        self._name, self._session, self._directory = name, session, directory
        self._restore = session.graph.get_operation_by_name(saver_def.restore_op_name)
        self._filename = session.graph.as_graph_element(saver_def.filename_tensor_name)
        self._change, self._prefix = _changes(session.graph, self._restore)
        self._checkpoint: str | None = None
        self._applied: Sequence[Increment] = ()
        self._told = ""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, poll_s: float) -> None:
        """Looks again every so many seconds, from now on."""
        self._thread = threading.Thread(
            target=self._follow, args=(poll_s,), name="tensorloom-follow", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends; a change that is being made ends first."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self, poll_s: float) -> None:
        while not self._over.wait(poll_s):
            self.look()

    def look(self) -> None:
        """Takes over what is new; says what cannot be, once, and leaves it out."""
        try:
            problem = self._take_over()
        except (OSError, ValueError, errors.OpError) as error:
            # A file may go while it is read: what it had is in a later one then.
            problem = getattr(error, "message", None) or str(error)
        if problem and problem != self._told:
            _logger.warning("%s: %s", self._name, problem)
        self._told = problem

    def _take_over(self) -> str:
        newest = checkpoint_management.latest_checkpoint(self._directory)
        if newest is None:
            return f"there is no checkpoint in {self._directory}"
        found = increments.find(newest, self._applied_to(newest))
        if newest != self._checkpoint or not _begins(found.increments, self._applied):
            # What follows is of this one alone.
            self._checkpoint = None
            self._session.run(self._restore, {self._filename: newest})
            self._checkpoint, self._applied = newest, ()
            _logger.info("%s has the values of %s", self._name, newest)
        for increment in found.increments[len(self._applied) :]:
            if self._over.is_set():
                return ""
            prefix = increments.increment_name(newest, increment.number)
            feeds = {self._filename: prefix, self._prefix: prefix}
            self._session.run(self._change, feeds)
            self._applied = [*self._applied, increment]
            _logger.info("%s has the changes of %s", self._name, prefix)
        return found.problem

    def _applied_to(self, checkpoint: str) -> Sequence[Increment]:
        return self._applied if checkpoint == self._checkpoint else ()


def _begins(found: Sequence[Increment], applied: Sequence[Increment]) -> bool:
    return list(found[: len(applied)]) == list(applied)


def _changes(graph: Graph, restore: Operation) -> tuple[list[Operation], Any]:
    """What takes an increment over, and the tensor of its prefix for embeddings.

    An increment has all variables but embeddings as a checkpoint has them, and of
    embeddings the rows that changed; who serves needs no slots of optimizers.
    """
    with graph.as_default(), name_scope("tensorloom_follow"):
        prefix = placeholder(dtypes.string, [], name="prefix")
        changes = []
        for op in _assignments(restore):
            if op.type != _RESTORE:
                changes.append(op)
                continue
            with colocate_with(op.inputs[0]):
                changes.append(
                    apply_op(
                        _RESTORE,
                        table=op.inputs[0],
                        prefix=prefix,
                        name_in_checkpoint=op.get_attr("name_in_checkpoint"),
                        shard=op.get_attr("shard"),
                        num_shards=op.get_attr("num_shards"),
                        is_increment=True,
                        slots_required=False,
                    )
                )
    return changes, prefix


def _assignments(restore: Operation) -> list[Operation]:
    """The operations that a saver's restore operation stands for."""
    found, waiting, seen = [], [restore], {restore}
    while waiting:
        op = waiting.pop()
        if op.type != "NoOp":
            found.append(op)
            continue
        more = [one for one in op.control_inputs if one not in seen]
        seen.update(more)
        waiting += more
    return found
