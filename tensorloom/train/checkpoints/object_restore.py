"""An object-based checkpoint being restored into objects, some of them to come."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorloom.client.program import program_log
from tensorloom.framework.graph.graph import init_scope
from tensorloom.framework.types.trackable import next_restore_uid
from tensorloom.ops.io.saveable_object import SaveableObject
from tensorloom.train.checkpoints import saver_saveables
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader
from tensorloom.train.checkpoints.object_graph import ObjectGraphView, node_names
from tensorloom.train.checkpoints.object_saveables import PythonStateSaveable
from tensorloom.train.checkpoints.object_sharding import restore_by_device


class _Slot(NamedTuple):
    """A slot variable of a checkpoint, by numbers of its objects."""

    optimizer: int
    variable: int
    slot: int
    name: str


class CheckpointRestore:
    """How far a checkpoint is restored.

    Args:
      object_graph: its `TrackableObjectGraph`.
      save_path: its prefix.
      prefix_tensor: the tensor that the restoring operations read the prefix from.
      known_ops: key -> restoring operation made before, for the same objects.
      view: the objects that it is restored into.
    """

    def __init__(
        self,
        object_graph: Any,
        save_path: str,
        prefix_tensor: Any,
        known_ops: dict[str, Any],
        view: ObjectGraphView,
    ) -> None:
        self.object_graph = object_graph
        self.restore_uid = next_restore_uid()
        self.view = view
        self.restore_ops: list[Any] = []
        # Number of an object -> the object, as long as it lives.
        self.bound: weakref.WeakValueDictionary[int, Any] = (
            weakref.WeakValueDictionary()
        )
        self.matched: set[int] = set()
        self.unused_attributes: dict[int, list[str]] = {}
        self.seen: dict[int, Any] = {}
        self._save_path = save_path
        self._prefix = prefix_tensor
        self._known_ops = known_ops
        # Slots by their variable, and by their optimizer if only that is missing.
        self.slots: dict[int, list[_Slot]] = {}
        self._slots_by_optimizer: dict[int, list[tuple[_Slot, Any]]] = {}
        for number, node in enumerate(object_graph.nodes):
            for slot in node.slot_variables:
                of = slot.original_variable_node_id
                self.slots.setdefault(of, []).append(
                    _Slot(number, of, slot.slot_variable_node_id, slot.slot_name)
                )
        self._warning = weakref.finalize(
            self, _warn, object_graph, self.matched, self.unused_attributes
        )

    def expect_partial(self) -> None:
        """Says nothing when the end comes before all of it was used."""
        self._warning.detach()

    def remember(self, trackable: Any) -> None:
        """Notes an object that the checkpoint should have values for."""
        self.seen[id(trackable)] = weakref.ref(trackable)

    def seen_objects(self) -> list[Any]:
        """The objects noted that still live."""
        return [one for ref in self.seen.values() if (one := ref()) is not None]

    # --- binding ---------------------------------------------------------------------

    def bind(self, number: int, trackable: Any) -> bool:
        """Notes that an object is the checkpoint's object `number`.

        Returns:
          Whether that is new.
        """
        self.remember(trackable)
        self.matched.add(number)
        known = self.bound.get(number)
        if known is not None:
            if known is not trackable:
                program_log.warning(
                    "Inconsistent references when loading the checkpoint into this "
                    "object graph. Either the Trackable object references in the "
                    "Python program have changed in an incompatible way, or the "
                    "checkpoint was generated in an incompatible program.\n\nTwo "
                    "checkpoint references resolved to different objects (%s and %s).",
                    known,
                    trackable,
                )
            return False
        self.bound[number] = trackable
        for slot, variable in self._slots_by_optimizer.pop(number, ()):
            self._restore_slot(trackable, slot, variable)
        for slot in self.slots.pop(number, ()):
            optimizer = self.bound.get(slot.optimizer)
            if optimizer is None:
                waiting = self._slots_by_optimizer.setdefault(slot.optimizer, [])
                waiting.append((slot, trackable))
            else:
                self._restore_slot(optimizer, slot, trackable)
        return True

    def _restore_slot(self, optimizer: Any, slot: _Slot, variable: Any) -> None:
        optimizer._create_or_restore_slot_variable(
            slot_variable_position=CheckpointPosition(self, slot.slot),
            slot_name=slot.name,
            variable=variable,
        )

    # --- operations ------------------------------------------------------------------

    def restore_from(self, number: int, trackable: Any) -> None:
        """Restores an object and what depends on it; the rest will wait."""
        with init_scope():
            if not self.bind(number, trackable):
                return
            tensors: dict[str, SaveableObject] = {}
            python: list[PythonStateSaveable] = []
            queue = deque([number])
            while queue:
                self._visit(queue.popleft(), queue, tensors, python)
            self.restore_ops += self._operations(tensors, python)

    def _visit(
        self,
        number: int,
        queue: deque[int],
        tensors: dict[str, SaveableObject],
        python: list[PythonStateSaveable],
    ) -> None:
        trackable = self.bound[number]
        if self.restore_uid > trackable._update_uid:
            self._gather(number, trackable, tensors, python)
            object.__setattr__(trackable, "_update_uid", self.restore_uid)
        for child in self.object_graph.nodes[number].children:
            found = trackable._lookup_dependency(child.local_name)
            if found is None:
                waiting = trackable._deferred_dependencies
                waiting.setdefault(child.local_name, []).append(
                    CheckpointPosition(self, child.node_id)
                )
            elif self.bind(child.node_id, found):
                queue.append(child.node_id)

    def _gather(
        self,
        number: int,
        trackable: Any,
        tensors: dict[str, SaveableObject],
        python: list[PythonStateSaveable],
    ) -> None:
        """The saveables of an object that have no restoring operation yet."""
        sources = trackable._gather_saveables_for_checkpoint()
        for attribute in self.object_graph.nodes[number].attributes:
            key = attribute.checkpoint_key
            known = self._known_ops.get(key)
            if known is not None:
                self.restore_ops.append(known)
                continue
            if attribute.name not in sources:
                if not attribute.optional_restore:
                    names = self.unused_attributes.setdefault(number, [])
                    names.append(attribute.name)
                continue
            saveable = self._saveable(trackable, attribute, sources[attribute.name])
            if isinstance(saveable, PythonStateSaveable):
                python.append(saveable)
            else:
                tensors[key] = saveable

    def _saveable(self, trackable: Any, attribute: Any, source: Any) -> Any:
        key = attribute.checkpoint_key
        kept = self.view.cache.of(trackable)
        known = kept.get(attribute.name, ())
        if len(known) == 1 and key in known[0].name:
            return known[0]
        made = source(name=key) if callable(source) else source
        if isinstance(made, SaveableObject):
            kept[attribute.name] = (made,)
        return made

    def _operations(
        self,
        tensors: dict[str, SaveableObject],
        python: Sequence[PythonStateSaveable],
    ) -> list[Any]:
        if python:
            reader = NewCheckpointReader(self._save_path)
            for one in python:
                one.python_restore([reader.get_tensor(s.name) for s in one.specs])
        if not tensors:
            return []
        saveables = saver_saveables.validate_and_slice_inputs(tensors)
        made = restore_by_device(saveables, self._prefix)
        self._known_ops.update(made)
        return [operation for _, operation in sorted(made.items())]


class CheckpointPosition:
    """An object of a checkpoint, which waits for the object of the program."""

    def __init__(self, checkpoint: CheckpointRestore, number: int) -> None:
        self._checkpoint = checkpoint
        self._number = number

    @property
    def restore_uid(self) -> int:
        """The number of the restoration: later ones win."""
        return self._checkpoint.restore_uid

    def restore(self, trackable: Any) -> None:
        """Restores the object, which is there now."""
        self._checkpoint.restore_from(self._number, trackable)


class NamedRestore:
    """A checkpoint of `tf.train.Saver`, restored by the names of variables."""

    def __init__(self, save_path: str) -> None:
        self.save_path = save_path
        self.restore_uid = next_restore_uid()
        self.unused: list[tuple[Any, str]] = []

    def saveables(self, trackable: Any) -> list[SaveableObject]:
        """The saveables of an object under their global names."""
        found: list[SaveableObject] = []
        for name, source in trackable._gather_saveables_for_checkpoint().items():
            one = source
            if callable(source):
                try:
                    one = source()
                except TypeError:
                    # It has no name but that of its place in an object graph.
                    if not source(name="").optional_restore:
                        self.unused.append((trackable, name))
                    continue
            for key, op in saver_saveables.op_list_to_dict([one], False).items():
                found += saver_saveables.saveable_objects_for_op(op, key)
        return found


def _warn(graph: Any, matched: set[int], unused: dict[int, list[str]]) -> None:
    missing = [n for n in range(len(graph.nodes)) if n not in matched]
    if not missing and not unused:
        return
    names = node_names(graph)
    for number in missing:
        program_log.warning("Unresolved object in checkpoint: %s", names.get(number))
    for number, attributes in unused.items():
        program_log.warning(
            "Unused attribute in object %s: %s", names.get(number), attributes
        )
    program_log.warning(
        "A checkpoint was restored (tf.train.Checkpoint.restore) but not all "
        "checkpointed values were used. See above for specific issues. Use "
        "expect_partial() on the load status object to silence these warnings, or use "
        "assert_consumed() to make the check explicit."
    )
