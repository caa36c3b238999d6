"""The objects that a checkpoint of `tf.train.Checkpoint` holds, and their keys."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensorloom.framework.types.trackable import TrackableReference
from tensorloom.ops.io.saveable_object import SaveableObject
from tensorloom.train.checkpoints import saver_saveables
from tensorloom.train.checkpoints.object_saveables import PythonStateSaveable

_ATTRIBUTES = ".ATTRIBUTES"
_SLOTS = ".OPTIMIZER_SLOT"
OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
Path = tuple[TrackableReference, ...]


def escape_name(name: str) -> str:
    """A dependency's name as a part of a key, where `/` and `.` have a meaning."""
    return name.replace(".", "..").replace("/", ".S")


class SaveablesCache:
    """The saveables of objects, kept so that saving again adds no operations."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Any, dict[str, Sequence[SaveableObject]]]] = {}

    def of(self, trackable: Any) -> dict[str, Sequence[SaveableObject]]:
        """Attribute -> saveables of an object."""
        reference, saveables = self._kept.get(id(trackable), (None, {}))
        if reference is None or reference() is not trackable:
            saveables = {}
            self._kept[id(trackable)] = weakref.ref(trackable), saveables
        return saveables


class ObjectGraphView:
    """The objects that depend on a root, in the order in which they are saved.

    Args:
      root: the `Trackable`, or a weak reference to it.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self.cache = SaveablesCache()

    @property
    def root(self) -> Any:
        """The object that all others are found from."""
        if isinstance(self._root, weakref.ref):
            return self._root()
        return self._root

    def dependencies(self, trackable: Any) -> list[TrackableReference]:
        """What an object depends on."""
        return trackable._checkpoint_dependencies  # type: ignore[no-any-return]

    def _walk(self) -> tuple[list[Any], dict[int, Path]]:
        """Objects breadth first, and the shortest path to each."""
        found = [self.root]
        paths: dict[int, Path] = {id(self.root): ()}
        queue = deque(found)
        while queue:
            current = queue.popleft()
            for reference in self.dependencies(current):
                if id(reference.ref) not in paths:
                    paths[id(reference.ref)] = (*paths[id(current)], reference)
                    found.append(reference.ref)
                    queue.append(reference.ref)
        return found, paths

    def list_objects(self) -> list[Any]:
        """All objects; the slots of optimizers last."""
        return self.numbered().objects

    def numbered(self) -> NumberedObjects:
        """All objects with their numbers and names in keys."""
        return NumberedObjects(*self._walk())

    def serialize(
        self, stand_ins: Mapping[int, Any] | None = None
    ) -> tuple[list[SaveableObject], Any, dict[Any, Any]]:
        """What is to be saved.

        Args:
          stand_ins: by the `id` of objects, those of another graph whose values are
            saved in their place; the saveables are of the default graph then.

        Returns:
          The saveables under their keys, the `TrackableObjectGraph`, and what must be
          fed for the state of Python objects.
        """
        numbered = self.numbered()
        graph = numbered.proto(self.dependencies)
        saveables: list[SaveableObject] = []
        feeds: dict[Any, Any] = {}
        for trackable, node in zip(numbered.objects, graph.nodes, strict=True):
            prefix = numbered.names[id(trackable)]
            holder = (stand_ins or {}).get(id(trackable), trackable)
            for name, source in holder._gather_saveables_for_checkpoint().items():
                key = f"{prefix}/{_ATTRIBUTES}/{escape_name(name)}"
                attribute = node.attributes.add(name=name, checkpoint_key=key)
                kept = (
                    self._saveables(trackable, name, key, source)
                    if stand_ins is None
                    else _make_saveables(source, key)
                )
                full_names = [getattr(s, "full_name", "") for s in kept]
                attribute.full_name = next(filter(None, full_names), "")
                attribute.optional_restore = bool(kept) and all(
                    saveable.optional_restore for saveable in kept
                )
                for saveable in kept:
                    if isinstance(saveable, PythonStateSaveable):
                        feeds.update(saveable.feed_dict_additions())
                    saveables.append(saveable)
        return saveables, graph, feeds

    def _saveables(
        self, trackable: Any, name: str, key: str, source: Any
    ) -> Sequence[SaveableObject]:
        kept = self.cache.of(trackable)
        known = kept.get(name)
        # An object that has another path now gets another key.
        if known is None or any(key not in saveable.name for saveable in known):
            kept[name] = known = _make_saveables(source, key)
        return known


def _make_saveables(source: Any, key: str) -> Sequence[SaveableObject]:
    made = source(name=key) if callable(source) else source
    if isinstance(made, SaveableObject):
        return (made,)
    (full_name,) = saver_saveables.op_list_to_dict([made], False)
    saveables = tuple(saver_saveables.saveable_objects_for_op(made, key))
    for saveable in saveables:
        saveable.full_name = full_name  # type: ignore[attr-defined]
    return saveables


class NumberedObjects:
    """Objects with numbers and keys, slot variables included."""

    def __init__(self, objects: list[Any], paths: dict[int, Path]) -> None:
        self.objects = objects
        self.names = {
            key: "/".join(escape_name(reference.name) for reference in path)
            for key, path in paths.items()
        }
        self.numbers = {id(one): number for number, one in enumerate(objects)}
        # Number of an optimizer -> (slot, number of the variable, of the slot).
        self.slots: dict[int, list[tuple[str, int, int]]] = {}
        for number, one in enumerate(list(objects)):
            if hasattr(one, "_create_or_restore_slot_variable"):
                self.slots[number] = list(self._add_slots(one, list(objects)))

    def _add_slots(
        self, optimizer: Any, candidates: list[Any]
    ) -> Iterator[tuple[str, int, int]]:
        below = f"/{_SLOTS}/{self.names[id(optimizer)]}/"
        variables = [
            (number, one)
            for number, one in enumerate(candidates)
            if one._gather_saveables_for_checkpoint()
        ]
        for slot_name in optimizer.get_slot_names():
            for number, variable in variables:
                slot = _slot(optimizer, variable, slot_name)
                if slot is None:
                    continue
                if id(slot) in self.numbers:
                    raise NotImplementedError(
                        "A slot variable was re-used as a dependency of a Trackable "
                        f"object, which is not possible: {slot}"
                    )
                key = self.names[id(variable)] + below + escape_name(slot_name)
                self.names[id(slot)] = key
                self.numbers[id(slot)] = len(self.objects)
                self.objects.append(slot)
                yield slot_name, number, self.numbers[id(slot)]

    def proto(self, dependencies: Callable[[Any], list[TrackableReference]]) -> Any:
        """The `TrackableObjectGraph` without attributes."""
        from tensorloom.protos import trackable_object_graph_pb2

        graph = trackable_object_graph_pb2.TrackableObjectGraph()
        for number, one in enumerate(self.objects):
            node = graph.nodes.add()
            for slot_name, variable, slot in self.slots.get(number, ()):
                node.slot_variables.add(
                    slot_name=slot_name,
                    original_variable_node_id=variable,
                    slot_variable_node_id=slot,
                )
            for name, reference in dependencies(one):
                node.children.add(node_id=self.numbers[id(reference)], local_name=name)
        return graph


def _slot(optimizer: Any, variable: Any, slot_name: str) -> Any:
    try:
        return optimizer.get_slot(variable, slot_name)
    except (AttributeError, KeyError):
        return None


def node_names(graph: Any) -> dict[int, str]:
    """Readable names of the objects of a `TrackableObjectGraph`, for messages."""
    names = {0: "(root)"}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        for child in graph.nodes[number].children:
            if child.node_id not in names:
                names[child.node_id] = f"{names[number]}.{child.local_name}"
                queue.append(child.node_id)
    for number, node in enumerate(graph.nodes):
        for slot in node.slot_variables:
            names[slot.slot_variable_node_id] = (
                f"{names.get(number)}'s state '{slot.slot_name}' for "
                f"{names.get(slot.original_variable_node_id)}"
            )
    return names
