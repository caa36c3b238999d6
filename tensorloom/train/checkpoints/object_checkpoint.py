"""`tf.train.Checkpoint`: values saved and restored by the objects that hold them."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    init_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.trackable import (
    SavedFunctionBase,
    Trackable,
    next_restore_uid,
)
from tensorloom.framework.types.trackable_structures import AutoTrackable
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import identity as identity_ops
from tensorloom.storage.checkpoints import bundle_files
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train.checkpoints import checkpoint_management
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader
from tensorloom.train.checkpoints.object_graph import OBJECT_GRAPH_KEY, ObjectGraphView
from tensorloom.train.checkpoints.object_restore import CheckpointRestore, NamedRestore
from tensorloom.train.checkpoints.object_saveables import (
    NoRestoreSaveable,
    PythonStateSaveable,
)
from tensorloom.train.checkpoints.object_sharding import save_by_device
from tensorloom.train.checkpoints.object_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    given_or_default_session,
)

Status = CheckpointLoadStatus | InitializationOnlyStatus | NameBasedSaverStatus


class ObjectSaver:
    """Saves and restores what depends on a root; operations are made once."""

    def __init__(self, root: Trackable, view: ObjectGraphView | None = None) -> None:
        # Weak, since the root has the saver: it shall go when its user drops it.
        self._view = view or ObjectGraphView(weakref.ref(root))
        self._object_graph: Any = None
        self._saved_graph: Any = None
        self._save_prefix: Any = None
        self._save_operation: Any = None
        self._restore_prefix: Any = None
        self._restore_ops: dict[str, Any] = {}

    def save(self, prefix: str, session: Any) -> str:
        """Writes a checkpoint; its prefix."""
        if self._object_graph is None:
            with device("/cpu:0"):
                self._object_graph = constant_op.constant("", dtype=dtypes.string)
                self._save_prefix = constant_op.constant("", dtype=dtypes.string)
        filesystem.make_directories(filesystem.parent(prefix) or ".")
        saveables, graph, feeds = self._view.serialize()
        if self._saved_graph != graph:
            root = NoRestoreSaveable(self._object_graph, OBJECT_GRAPH_KEY)
            save = save_by_device([*saveables, root], self._save_prefix)
            with device("/cpu:0"), control_dependencies([save]):
                self._save_operation = identity_ops.identity(self._save_prefix)
            self._saved_graph = graph
        feeds[self._object_graph] = graph.SerializeToString()
        feeds[self._save_prefix] = prefix
        session = given_or_default_session(session)
        return os.fsdecode(session.run(self._save_operation, feeds))

    def restore_from_constant(self, prefix: str) -> None:
        """Makes operations restore from a prefix that nobody has to feed."""
        self._restore_prefix = constant_op.constant(prefix)

    def restored_values(self, status: Any) -> Iterator[tuple[Any, Any]]:
        """What restores each object of a restoration that has a value."""
        checkpoint = status.checkpoint
        for number, node in enumerate(checkpoint.object_graph.nodes):
            trackable = checkpoint.bound.get(number)
            for attribute in node.attributes:
                operation = self._restore_ops.get(attribute.checkpoint_key)
                if trackable is not None and operation is not None:
                    yield trackable, operation

    def restore(self, save_path: str | None) -> Status:
        """Makes the operations that restore a checkpoint, as far as objects exist."""
        from google.protobuf.message import DecodeError

        from tensorloom.protos import trackable_object_graph_pb2

        if save_path is None:
            return InitializationOnlyStatus(self._view, next_restore_uid())
        reader = NewCheckpointReader(save_path)
        try:
            text = reader.get_tensor(OBJECT_GRAPH_KEY)
        except errors.NotFoundError:
            return NameBasedSaverStatus(NamedRestore(save_path), self._view)
        graph = trackable_object_graph_pb2.TrackableObjectGraph()
        try:
            graph.ParseFromString(text)
            _check_numbers(graph)
        except (DecodeError, ValueError, TypeError) as error:
            raise errors.DataLossError(
                None, None, f"The object graph of {save_path} is damaged: {error}"
            ) from None
        if self._restore_prefix is None:
            with device("/cpu:0"):
                self._restore_prefix = constant_op.constant("model")
        checkpoint = CheckpointRestore(
            graph, save_path, self._restore_prefix, self._restore_ops, self._view
        )
        checkpoint.restore_from(0, self._view.root)
        feeds = {self._restore_prefix: save_path}
        return CheckpointLoadStatus(checkpoint, self._view, feeds)


def _check_numbers(graph: Any) -> None:
    """Objects are named by numbers of a file: each must be one of its objects."""
    count = len(graph.nodes)
    if not count:
        raise ValueError("it has no objects")
    for node in graph.nodes:
        numbers = [child.node_id for child in node.children]
        for slot in node.slot_variables:
            numbers += [slot.original_variable_node_id, slot.slot_variable_node_id]
        for number in numbers:
            if not 0 <= number < count:
                raise ValueError(f"there is no object {number} of {count}")


@export("train.Checkpoint")
class Checkpoint(AutoTrackable):
    """Saves and restores objects: variables, optimizers, layers, tables, iterators.

    Values are found by the names of the attributes that lead to them, not by the names
    of variables, so a program may rename its scopes. Objects that are made after
    `restore` get their values too, when they become part of it.

    Args:
      **kwargs: attributes to be set, each of them trackable.

    Raises:
      ValueError: one is not.
    """

    def __init__(self, **kwargs: Any) -> None:
        for name, value in sorted(kwargs.items()):
            # Functions are no dependencies, but SavedModels have them.
            if not isinstance(value, Trackable | SavedFunctionBase):
                raise ValueError(
                    f"Checkpoint({name}=...) takes a trackable object (a variable, an "
                    "optimizer, a layer, a table, an iterator, or an object of these), "
                    f"not {value!r}"
                )
            setattr(self, name, value)
        self._save_counter: Any = None  # made when needed: restored, or zero
        self._save_assign_op: Any = None
        self._saver = ObjectSaver(self)

    @property
    def save_counter(self) -> Any:
        """A variable that counts the calls of `save`."""
        if self._save_counter is None:
            with device("/cpu:0"), init_scope():
                counter = Variable(
                    0,
                    name="save_counter",
                    dtype=dtypes.int64,
                    trainable=False,
                    use_resource=True,
                )
            self._track_trackable(counter, name="save_counter")
            self._save_counter = self._no_dependency(counter)
        return self._save_counter

    def write(self, file_prefix: Any, session: Any = None) -> str:
        """Writes a checkpoint under a prefix, without number and state file.

        Returns:
          The prefix.

        Raises:
          ValueError: there is no session.
        """
        return self._saver.save(filesystem.path_text(file_prefix), session)

    def save(self, file_prefix: Any, session: Any = None) -> str:
        """Writes a checkpoint, numbered by `save_counter`, and names it as the newest.

        Returns:
          Its prefix.

        Raises:
          ValueError: there is no session.
          NotImplementedError: it is called while a function is traced.
        """
        if get_default_graph().building_function:
            raise NotImplementedError(
                "Checkpoint.save() cannot be traced: it numbers the checkpoint and "
                "writes the state file in Python. Checkpoint.write() can be; "
                "tf.train.latest_checkpoint does not see what it writes."
            )
        session = given_or_default_session(session)
        prefix = filesystem.path_text(file_prefix)
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._save_assign_op is None:
            with colocate_with(self.save_counter):
                increment = self.save_counter.assign_add(1, read_value=True)
            self._save_assign_op = self._no_dependency(increment)
        number = session.run(self._save_assign_op)
        path = self.write(f"{prefix}-{number}", session)
        name_newest(filesystem.parent(prefix), path, [path])
        return path

    def restore(self, save_path: Any) -> Status:
        """Prepares the restoration of a checkpoint; run it by the status returned.

        Args:
          save_path: its prefix; None to initialize. A checkpoint of `tf.train.Saver` is
            restored by the names of variables.

        Returns:
          A status: `assert_consumed()`, `assert_existing_objects_matched()`,
          `assert_nontrivial_match()`, `expect_partial()`, `run_restore_ops(session)`
          and `initialize_or_restore(session)`.

        Raises:
          NotFoundError: there is no such checkpoint.
          DataLossError: it is damaged.
        """
        path = None if save_path is None else filesystem.path_text(save_path)
        status = self._saver.restore(path)
        _ = self.save_counter  # so that it is restored
        return status


def frozen_saveables(
    view: ObjectGraphView, stand_ins: Mapping[int, Any] | None = None
) -> list[Any]:
    """What a `tf.train.Saver` saves to write checkpoints of objects.

    The objects and their Python state are those of now. For `stand_ins` see
    `ObjectGraphView.serialize`.
    """
    saveables, graph, _ = view.serialize(stand_ins)
    with device("/cpu:0"):
        text = constant_op.constant(graph.SerializeToString(), dtype=dtypes.string)
    frozen = [
        NoRestoreSaveable(saveable.frozen_state(), saveable.name)
        if isinstance(saveable, PythonStateSaveable)
        else saveable
        for saveable in saveables
    ]
    return [*frozen, NoRestoreSaveable(text, OBJECT_GRAPH_KEY)]


def name_newest(
    directory: str,
    newest: str,
    paths: list[str],
    timestamps: list[float] | None = None,
    last_preserved: float | None = None,
) -> None:
    """Writes the state file, with relative paths, and hands the files to mirrors."""
    state = checkpoint_management.saved_state(
        directory, newest, paths, True, timestamps, last_preserved
    )
    checkpoint_management.write_state(directory, state)
    if mirror.mirrors():
        name = checkpoint_management.state_filename(directory, None)
        contents = checkpoint_management.state_for_mirror(directory, state)
        mirror.published(bundle_files.bundle_files(newest), {name: contents})
