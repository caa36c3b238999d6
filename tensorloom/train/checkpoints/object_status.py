"""What `tf.train.Checkpoint.restore` returns: what was found, and running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import device, get_default_session
from tensorloom.framework.types.trackable_structures import DictWrapper, ListWrapper
from tensorloom.train.checkpoints.object_graph import ObjectGraphView, node_names

if TYPE_CHECKING:
    from tensorloom.train.checkpoints.object_restore import (
        CheckpointRestore,
        NamedRestore,
    )


def given_or_default_session(session: Any) -> Any:
    """The session, or the default one.

    Raises:
      ValueError: there is none.
    """
    session = session or get_default_session()
    if session is None:
        raise ValueError(
            "Checkpoints are saved and restored in a session: pass `session`, or call "
            "this inside `with tf.Session():`."
        )
    return session


class CheckpointLoadStatus:
    """Of a restoration: objects that are made later take part in it."""

    def __init__(
        self, checkpoint: CheckpointRestore, view: ObjectGraphView, feeds: Any
    ) -> None:
        self._checkpoint = checkpoint
        self._view = view
        self._root = view.root  # the view's reference is weak
        self._feeds = feeds

    @property
    def checkpoint(self) -> CheckpointRestore:
        """How far the checkpoint is restored."""
        return self._checkpoint

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Asserts that the checkpoint and the program have the same objects.

        Raises:
          AssertionError: an object or a value is in one of them only.
        """
        self.assert_existing_objects_matched()
        checkpoint = self._checkpoint
        names = node_names(checkpoint.object_graph)
        for number, node in enumerate(checkpoint.object_graph.nodes):
            if checkpoint.bound.get(number) is None:
                raise AssertionError(
                    f"Unresolved object in checkpoint {names.get(number)}: {node}"
                )
        if checkpoint.slots:
            raise AssertionError(f"Unresolved slot restorations: {checkpoint.slots}")
        if checkpoint.unused_attributes:
            lines = [
                f"{names.get(number)} ({checkpoint.bound[number]}): {attributes}"
                for number, attributes in checkpoint.unused_attributes.items()
            ]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the "
                "checkpoint but were not restored):\n" + "\n".join(lines)
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Asserts that the checkpoint has values for all objects that there are.

        Raises:
          AssertionError: it has none for an object.
        """
        checkpoint = self._checkpoint
        for number, node in enumerate(checkpoint.object_graph.nodes):
            trackable = checkpoint.bound.get(number)
            if trackable is not None and (
                trackable._update_uid < checkpoint.restore_uid
            ):
                raise AssertionError(
                    f"Object not assigned a value from checkpoint: {node}"
                )
        for trackable in self._view.list_objects():
            empty = isinstance(trackable, ListWrapper | DictWrapper)
            if not empty or trackable._checkpoint_dependencies:
                checkpoint.remember(trackable)
        unused = self._unmatched()
        if unused:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due "
                f"to changes in the Python program: {unused}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Asserts that anything but the root was found.

        Raises:
          AssertionError: nothing was.
        """
        checkpoint = self._checkpoint
        for trackable in self._view.list_objects():
            checkpoint.remember(trackable)
        if len(checkpoint.bound) > 1:
            return self
        unused = self._unmatched()
        if unused:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically"
                " this means that the checkpoint does not match the Python program. The"
                f" following objects have no matching checkpointed value: {unused}"
            )
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {self._view.root} "
            "yet."
        )

    def _unmatched(self) -> list[Any]:
        bound = {id(one) for one in self._checkpoint.bound.values()}
        return [o for o in self._checkpoint.seen_objects() if id(o) not in bound]

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores, in a session or the default one."""
        session = given_or_default_session(session)
        session.run(self._checkpoint.restore_ops, feed_dict=self._feeds)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restores, and initializes what the checkpoint does not have."""
        session = given_or_default_session(session)
        bound = {id(one) for one in self._checkpoint.bound.values()}
        uid = self._checkpoint.restore_uid
        initializers = [
            one.initializer
            for one in self._view.list_objects()
            if hasattr(one, "initializer")
            and id(one) not in bound
            and one._update_uid < uid
        ]
        self.run_restore_ops(session)
        session.run(initializers)

    def expect_partial(self) -> CheckpointLoadStatus:
        """Silences the warnings about what the program did not use."""
        self._checkpoint.expect_partial()
        return self


class InitializationOnlyStatus:
    """Of a restoration without a checkpoint: it initializes."""

    def __init__(self, view: ObjectGraphView, restore_uid: int) -> None:
        self._view = view
        self._root = view.root  # the view's reference is weak
        self._restore_uid = restore_uid

    def assert_consumed(self) -> InitializationOnlyStatus:
        """Raises AssertionError: there is no checkpoint."""
        raise AssertionError(
            "No checkpoint specified (save_path=None); nothing is being restored."
        )

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        """Raises AssertionError: there is no checkpoint."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None "
            "to Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initializes the objects that no later restoration has values for."""
        session = given_or_default_session(session)
        session.run(
            [
                one.initializer
                for one in self._view.list_objects()
                if getattr(one, "initializer", None) is not None
                and one._update_uid < self._restore_uid
            ]
        )

    def expect_partial(self) -> InitializationOnlyStatus:
        """Nothing: there are no warnings."""
        return self


class NameBasedSaverStatus:
    """Of the restoration of a checkpoint that `tf.train.Saver` wrote."""

    def __init__(self, checkpoint: NamedRestore, view: ObjectGraphView) -> None:
        self._checkpoint = checkpoint
        self._view = view
        self._root = view.root  # the view's reference is weak

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Asserts that all objects were restored; they are when the operations ran.

        Raises:
          AssertionError: one was not.
        """
        if self._checkpoint.unused:
            lines = [f"\n    {one}: {name}" for one, name in self._checkpoint.unused]
            raise AssertionError(
                "Some objects had attributes which were not restored:" + "".join(lines)
            )
        for trackable in self._view.list_objects():
            if trackable._update_uid < self._checkpoint.restore_uid:
                raise AssertionError(f"Object not restored: {trackable}")
        return self

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores by the names of variables, in a session or the default one."""
        from tensorloom.train.checkpoints.saver import Saver

        session = given_or_default_session(session)
        uid = self._checkpoint.restore_uid
        saveables: list[Any] = []
        with device("/cpu:0"):
            for trackable in self._view.list_objects():
                if trackable._update_uid < uid:
                    object.__setattr__(trackable, "_update_uid", uid)
                    saveables += self._checkpoint.saveables(trackable)
            Saver(saveables).restore(session, self._checkpoint.save_path)

    def initialize_or_restore(self, session: Any = None) -> None:
        """The same as `run_restore_ops`."""
        self.run_restore_ops(session)

    def expect_partial(self) -> NameBasedSaverStatus:
        """Nothing: there are no warnings."""
        return self
