"""The objects and functions that a SavedModel of a root has, numbered."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.concrete_function import ConcreteFunction
from tensorloom.client.functions.def_function import Function
from tensorloom.client.program import program_log
from tensorloom.framework.graph.graph import GraphKeys, get_collection_ref
from tensorloom.framework.types.trackable import TrackableReference
from tensorloom.ops.lookup.trackable_resources import CapturableResource
from tensorloom.saved_model.objects.function_messages import input_signature
from tensorloom.saved_model.objects.signatures import SIGNATURE_ATTRIBUTE_NAME
from tensorloom.saved_model.objects.structure_coder import StructureCoder
from tensorloom.train.checkpoints.object_graph import ObjectGraphView

if TYPE_CHECKING:
    from collections.abc import Iterator


class SavedObjectView(ObjectGraphView):
    """Objects as checkpoints see them, and what SavedModels have besides.

    Functions are listed once for each object: some objects make them when asked.
    """

    def __init__(self, root: Any) -> None:
        super().__init__(root)
        self._extra: dict[int, dict[str, Any]] = {}
        self._functions: dict[int, dict[str, Any]] = {}
        self._kept: list[Any] = []  # what ids are of
        self._cache: dict[Any, Any] = {}  # of the objects, while they list

    def add_object(self, parent: Any, name: str, child: Any) -> None:
        """Makes an object depend on another in the file, and only there."""
        self._kept.append(parent)
        self._extra.setdefault(id(parent), {})[name] = child

    def dependencies(self, trackable: Any) -> list[TrackableReference]:
        """What an object depends on, and what it has in SavedModels only.

        Raises:
          ValueError: both have one name.
        """
        extra = dict(trackable._list_extra_dependencies_for_serialization(self._cache))
        extra.update(self._extra.get(id(trackable), {}))
        found = []
        for name, dependency in super().dependencies(trackable):
            if name in extra and name != SIGNATURE_ATTRIBUTE_NAME:
                raise ValueError(
                    f"Error when exporting object {trackable} of with identifier="
                    f"{trackable._object_identifier}. The object has an attribute "
                    f"named {name}, which is reserved. List of all reserved "
                    f"attributes: {list(extra)}"
                )
            found.append(TrackableReference(name, extra.pop(name, dependency)))
        return found + [TrackableReference(*item) for item in extra.items()]

    def functions(self, trackable: Any) -> dict[str, Any]:
        """The functions of an object by name."""
        known = self._functions.get(id(trackable))
        if known is None:
            known = trackable._list_functions_for_serialization(self._cache)
            if is_resource(trackable) and not known:
                known = _resource_functions(trackable)
            self._kept.append(trackable)
            self._functions[id(trackable)] = known
        return known


def is_resource(obj: Any) -> bool:
    """Whether an object is a resource that functions capture."""
    return isinstance(obj, CapturableResource) and obj.resource_handle is not None


def _resource_functions(resource: CapturableResource) -> dict[str, Any]:
    """How a resource is made and filled, as functions."""

    def creator() -> Any:
        return resource._create_resource()

    def initializer() -> int:
        with _without_initializers():
            resource._initialize()
        return 1

    creator.__name__, initializer.__name__ = "_creator", "_initializer"
    return {
        "_create_resource": Function(creator, [], creator),
        "_initialize": Function(initializer, [], initializer),
    }


@contextlib.contextmanager
def _without_initializers() -> Iterator[None]:
    """Tables add the operation that fills them to a collection; one of a body not."""
    collection = get_collection_ref(GraphKeys.TABLE_INITIALIZERS)
    count = len(collection)
    try:
        yield
    finally:
        del collection[count:]


class NumberedNodes:
    """Objects and functions in the order of the file, as they are now."""

    def __init__(self, view: SavedObjectView) -> None:
        self.view = view
        numbered = view.numbered()
        self.slots = numbered.slots
        self.nodes = list(numbered.objects)
        self.numbers = {id(one): number for number, one in enumerate(self.nodes)}
        self.traces: dict[int, list[ConcreteFunction]] = {}
        self.concrete_functions: dict[bytes, ConcreteFunction] = {}
        for node in numbered.objects:
            for function in view.functions(node).values():
                self._add_function(function)

    def _add_function(self, function: Any) -> None:
        if id(function) in self.numbers:
            return
        self.numbers[id(function)] = len(self.nodes)
        self.nodes.append(function)
        traces = [function]
        if isinstance(function, Function):
            self.traces[id(function)] = traces = _traces_of(function)
        for trace in traces:
            self.concrete_functions.setdefault(trace.name, trace)

    def add(self, node: Any) -> int:
        """Adds a node; gives its number."""
        number = self.numbers[id(node)] = len(self.nodes)
        self.nodes.append(node)
        return number

    def fill(self, proto: Any) -> None:
        """Writes nodes with their children and slots into a `SavedObjectGraph`."""
        for number, node in enumerate(self.nodes):
            message = proto.nodes.add()
            for slot_name, variable, slot in self.slots.get(number, ()):
                message.slot_variables.add(
                    slot_name=slot_name,
                    original_variable_node_id=variable,
                    slot_variable_node_id=slot,
                )
            if isinstance(node, Function | ConcreteFunction | CapturedConstant):
                continue
            children = [(r.name, r.ref) for r in self.view.dependencies(node)]
            children += self.view.functions(node).items()
            for name, child in children:
                message.children.add(node_id=self.numbers[id(child)], local_name=name)


def _traces_of(function: Function) -> list[ConcreteFunction]:
    """The traces of a function in the default graph.

    There is one for each signature that it was traced for, in bodies of other
    functions too.
    """
    found = {}
    for trace in function.concrete_functions_of_graph():
        found[repr(input_signature(trace))] = trace
    for trace in function.traces_elsewhere():
        args, kwargs = signature = input_signature(trace)
        if repr(signature) not in found and _is_encodable(trace):
            again = function.get_concrete_function(*args, **kwargs)
            found[repr(signature)] = again
    return list(filter(_is_encodable, found.values()))


def _is_encodable(trace: ConcreteFunction) -> bool:
    signature = input_signature(trace)
    if StructureCoder().can_encode(signature):
        return True
    program_log.info("Unsupported signature for serialization: %s.", signature)
    return False


class CapturedConstant:
    """A constant that functions capture, copied to the exported graph."""

    def __init__(self, tensor: Any) -> None:
        self.graph_tensor = tensor
