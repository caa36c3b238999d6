"""`tf.import_graph_def`: the nodes of a GraphDef as operations of the default graph."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.importing import import_problems
from tensorloom.client.importing.default_attrs import set_default_attrs
from tensorloom.client.importing.import_functions import ImportedFunctions
from tensorloom.client.importing.import_mapping import InputMapping, parse_tensor_name
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.functions.classic_op_types import MERGES, NEXT_ITERATIONS
from tensorloom.framework.graph import graph_def, source
from tensorloom.framework.graph.dataflow_graph import detach, join_context
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_ir import PRODUCER_VERSION
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.garbage import collection_paused
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.graph_ir import Node

_COLOCATION = b"loc:@"
_NO_DEVICE = nullcontext()
# Ops whose outputs had other static shapes once: their graphs' do not count.
_OLDER_SHAPES: Final = frozenset(
    [
        "Barrier",
        "BarrierIncompleteSize",
        "BarrierReadySize",
        "ConditionalAccumulator",
        "FIFOQueue",
        "FixedLengthRecordReader",
        "HashTable",
        "IdentityReader",
        "LMDBReader",
        "MutableHashTable",
        "MutableHashTableOfTensors",
        "PaddingFIFOQueue",
        "PriorityQueue",
        "QueueSize",
        "RandomShuffleQueue",
        "RefEnter",
        "RefIdentity",
        "RefMerge",
        "RefNextIteration",
        "RefSwitch",
        "SparseConditionalAccumulator",
        "Stack",
        "TFRecordReader",
        "TextLineReader",
        "WholeFileReader",
    ]
)


@export("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the default graph.

    Args:
      graph_def: a `GraphDef` message; attrs with defaults that its nodes leave out are
        added to it.
      input_map: what to use in place of an output of a node ("node:index") or of a
        control input ("^node"): tensors, or values that convert to tensors.
      return_elements: names of operations ("node") and tensors ("node:index") to
        return.
      name: the prefix of the new operations' names, "import" by default.
      op_dict: not used.
      producer_op_list: the `OpList` of who wrote the graph; attrs that are not known
        here are then dropped where they have the default value of that list.

    Returns:
      The return elements; None when none were asked for.

    Raises:
      TypeError: an argument is of the wrong kind, or a node's colocation groups are.
      ValueError: the graph is not well-formed, or a name of `input_map` or
        `return_elements` is not in it.
      errors.NotFoundError: an op is not known.
    """
    del op_dict
    mapping = _check_input_map(input_map)
    changes = bool(mapping) or producer_op_list is not None
    proto = checked_graph_def(graph_def, changes=changes)
    wanted = _check_return_elements(return_elements)
    graph = get_default_graph()
    with name_scope(name, "import", list(mapping.values())) as scope:
        prefix = scope[:-1] if scope else ""
        mapping = _to_tensors(mapping, name)
    importer = import_nodes(
        graph, proto, prefix, InputMapping(mapping), wanted or (), producer_op_list
    )
    unused = importer.mapping.unknown_keys(importer.output_counts)
    if unused:
        raise ValueError(
            "Attempted to map inputs that were not found in graph_def: "
            f"[{', '.join(unused)}]"
        )
    if wanted is None:
        return None
    return [importer.element(element) for element in wanted]


def import_nodes(
    graph: Graph,
    proto: Any,
    prefix: str,
    mapping: InputMapping,
    elements: Sequence[str] = (),
    producer_op_list: Any = None,
) -> Importer:
    """Adds the nodes of a GraphDef, which may be changed, to a graph under a prefix.

    Args:
      elements: the return elements; `Importer.element` gives them.

    Raises:
      ValueError: the graph is not well-formed, or a name is not in it.
      errors.NotFoundError: an op is not known.
    """
    importer = Importer(graph, prefix, mapping)
    try:
        with collection_paused(), graph._construction.building():
            importer.add(proto, producer_op_list, elements)
    except errors.InvalidArgumentError as error:
        if "Cannot parse tensor from proto" in error.message:
            raise  # the bytes are bad, not the graph: the class that a step gives
        message = import_problems.edge_message(error.message, proto, prefix)
        message = importer.mapping.readable(message, prefix)
        raise ValueError(_with_all_problems(message, proto)) from None
    except errors.NotFoundError as error:
        message = _with_all_problems(error.message, proto)
        raise errors.NotFoundError(error.node_def, error.op, message) from None
    return importer


def _with_all_problems(message: str, proto: Any) -> str:
    """The message, and all ops and attrs that are not known if that is the reason.

    The import stops at the first; who has to mend the graph wants to see all.
    """
    if "not in the op" not in message and "not registered" not in message:
        return message
    return "\n".join(filter(None, (message, import_problems.explain(proto))))


def checked_graph_def(proto: Any, *, changes: bool) -> Any:
    """The message as ours; a copy of the caller's if it is to be changed."""
    from tensorloom.protos import graph_pb2

    descriptor = getattr(proto, "DESCRIPTOR", None)
    if descriptor is None or descriptor.name != "GraphDef":
        raise TypeError("graph_def must be a GraphDef proto.")
    if isinstance(proto, graph_pb2.GraphDef):
        set_default_attrs(proto)
        if not changes:
            return proto
        copy = graph_pb2.GraphDef()
        copy.CopyFrom(proto)
        return copy
    return graph_def.parse(proto.SerializeToString())


def _check_input_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(
        isinstance(key, (str, bytes)) for key in input_map
    ):
        raise TypeError(
            "input_map must be a dictionary mapping strings to Tensor objects."
        )
    return {
        key.decode() if isinstance(key, bytes) else key: value
        for key, value in input_map.items()
    }


def _check_return_elements(return_elements: Any) -> list[str] | None:
    if return_elements is None:
        return None
    elements = list(return_elements)
    if not all(isinstance(e, (str, bytes)) for e in elements):
        raise TypeError("return_elements must be a list of strings.")
    return [e.decode() if isinstance(e, bytes) else e for e in elements]


def _to_tensors(mapping: dict[str, Any], name: str | None) -> dict[str, Any]:
    """The values of an input map as tensors, made inside the import's scope."""

    def is_final(key: str, value: Any) -> bool:
        return isinstance(value, Tensor) or (
            key.startswith("^") and isinstance(value, Operation)
        )

    if all(is_final(key, value) for key, value in mapping.items()):
        return mapping
    if name == "":
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains "
            "non-Tensor values. Try calling tf.convert_to_tensor() on `input_map` "
            "values before calling tf.import_graph_def()."
        )
    with name_scope("_inputs"):
        return {
            key: value if is_final(key, value) else convert_to_tensor(value)
            for key, value in mapping.items()
        }


class Importer:
    """One import into a graph under a prefix."""

    def __init__(self, graph: Graph, prefix: str, mapping: InputMapping) -> None:
        self.graph = graph
        self.prefix = prefix
        self.mapping = mapping
        self.output_counts: dict[str, int] = {}
        self._ops: dict[str, Operation] = {}  # by name in the GraphDef
        self._stack = source.capture()  # every node has the same
        self._scopes_before = scopes_of(graph)

    def add(self, proto: Any, producer_op_list: Any, elements: Sequence[str]) -> None:
        """Adds all nodes, or none if one of them does not fit.

        Args:
          elements: the return elements, which must be there.

        Raises:
          errors.InvalidArgumentError, ValueError: something does not fit.
        """
        order = {node.name: i for i, node in enumerate(proto.node)}
        if producer_op_list is not None:
            graph_def.strip_new_default_attrs(proto, _op_list(producer_op_list))
        self.mapping.apply(proto)
        imported = graph_def.from_proto(proto, self.graph.functions)
        functions = ImportedFunctions(
            {
                f.signature.name: imported.functions[f.signature.name]
                for f in proto.library.function
            },
            proto.library.gradient,
            self.graph.functions,
        )
        nodes = {
            name: functions.renamed_node(node)
            for name, node in imported.nodes.items()
            if name in order
        }
        self.output_counts = {n.name: len(n.output_types) for n in nodes.values()}
        functions.check_called(imported.nodes.values())
        self._check_colocation(nodes.values())
        for name in elements:
            self._check_element(name)
        for function in functions.to_add():
            self.graph.add_function(function)
        count = len(self.graph._operations)
        self.graph._sees_single_sizes = imported.producer > PRODUCER_VERSION
        # Shape functions ask for the version of the graph that their node is from.
        own_producer = self.graph._producer
        self.graph._producer = imported.producer
        try:
            with self.graph.name_scope(None):
                ordered = _in_graph_def_order(nodes, order)
                scopes = self.graph._scopes
                if scopes.controllers or scopes.control_flow_context is not None:
                    self._add_under_controls(ordered, nodes)
                else:
                    self._add_nodes(ordered, nodes)
        except Exception:
            remove_operations(self.graph, count)
            raise
        finally:
            self.graph._sees_single_sizes = False
            self.graph._producer = own_producer
        self.graph._producer = min(own_producer, imported.producer)
        self.graph._min_consumer = max(self.graph._min_consumer, imported.min_consumer)
        bad = {*self.graph._bad_consumers, *imported.bad_consumers}
        self.graph._bad_consumers = tuple(sorted(bad))

    def _check_colocation(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            groups = node.attrs.get("_class")
            if groups is None:
                continue
            if not isinstance(groups, list) or not all(
                isinstance(group, bytes) for group in groups
            ):
                raise TypeError(
                    f"Node '{node.name}': attr '_class' is not a list of strings"
                )
            for group in groups:
                other = group[len(_COLOCATION) :].decode("utf-8", "backslashreplace")
                if group.startswith(_COLOCATION) and other not in self.output_counts:
                    raise ValueError(
                        f"Node '{node.name}' expects to be colocated with unknown node "
                        f"'{other}'"
                    )

    def _full_name(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name

    def _add_under_controls(
        self, order: Sequence[Node], nodes: Mapping[str, Node]
    ) -> None:
        """What is around the import holds for each node: dependencies, a context."""
        context = self.graph._get_control_flow_context()
        with self.graph.control_dependencies(None):
            self._add_nodes(order, nodes)
        for op in self._ops.values():
            op._set_control_flow_context(context)
        for op in self._ops.values():
            add_control_inputs(op, self.graph._control_inputs_for(op._inputs))
            if context is not None:
                join_context(op)

    def _add_nodes(self, order: Sequence[Node], nodes: Mapping[str, Node]) -> None:
        back_edges: list[tuple[str, int, str, int]] = []
        ops = self._ops
        for node in order:
            inputs: list[Tensor] = []
            later: list[int] = []
            for i, (name, index) in enumerate(node.inputs):
                producer = ops.get(name)
                if producer is not None:
                    inputs.append(producer._outputs[index])
                elif name in nodes:
                    # A loop's back edge: its producer comes later.
                    back_edges.append((node.name, i, name, index))
                    later.append(i)
                else:
                    inputs.append(self._tensor(name, index))
            if later and not inputs:
                raise errors.InvalidArgumentError(
                    None, None, f"Node '{node.name}' waits for its own iterations alone"
                )
            for i in later:
                inputs.insert(i, inputs[0])
            ops[node.name] = self._add_node(node, inputs)
        for merge, i, name, index in back_edges:
            self._ops[merge]._update_input(i, self._tensor(name, index))
        self._place_colocated()

    def _tensor(self, name: str, index: int) -> Tensor:
        mapped = self.mapping.tensor(name)
        return mapped if mapped is not None else self._ops[name]._outputs[index]

    def _add_node(self, node: Node, inputs: Sequence[Tensor]) -> Operation:
        # The nodes were made for this import: their attrs need no copy.
        graph, attrs = self.graph, node.attrs
        shapes = attrs.pop("_output_shapes", None)
        groups = attrs.get("_class")
        if groups:
            attrs["_class"] = [self._renamed_group(g) for g in groups]
        device = graph.device(node.device) if node.device else _NO_DEVICE
        with device:
            name = self._full_name(node.name)
            # An import makes names unique; the scopes of nodes before it have theirs.
            if name in graph._by_name or name in self._scopes_before:
                name = graph.unique_name(name)
            op = graph.add_operation(
                graph._get_op_def(node.op),
                inputs,
                attrs,
                f"{name}/",
                node.output_types,
                self._stack,
            )
        if node.control_inputs:
            self._add_controls(op, node.control_inputs)
        graph._names_in_use.setdefault(op._name.lower(), 1)
        if isinstance(shapes, list):  # one for each output; others are of no use
            for i, shape in enumerate(shapes[: len(op._outputs)]):
                _declare_shape(op, i, shape)
        return op

    def _add_controls(self, op: Operation, names: Sequence[str]) -> None:
        control = [self.mapping.operation(name) or self._ops[name] for name in names]
        add_control_inputs(op, control)

    def _renamed_group(self, group: bytes) -> bytes:
        if not group.startswith(_COLOCATION):
            return group
        name = group[len(_COLOCATION) :].decode()
        op = self._ops.get(name)
        return _COLOCATION + (op.name if op else self._full_name(name)).encode()

    def _place_colocated(self) -> None:
        """An op that is colocated with others has the device of one, or none."""
        for op in self._ops.values():
            names = map(_colocated_name, op._attrs.get("_class", ()))
            found = map(self.graph._by_name.get, names)
            others = [other for other in found if other not in (None, op)]
            if others:
                devices = [other.device for other in others if other and other.device]
                op._device = devices[0] if devices else ""

    def _check_element(self, name: str) -> None:
        if ":" not in name:
            if name not in self.output_counts:
                raise ValueError(
                    f"Requested return node '{name}' not found in graph def"
                )
            return
        op_name, index = parse_tensor_name(name)
        if self.mapping.replacement(op_name, index) is not None:
            return
        count = self.output_counts.get(op_name)
        if count is None:
            raise ValueError(f"Requested return tensor '{name}' not found in graph def")
        if index >= count:
            raise ValueError(
                f"Invalid return output {index} of node '{op_name}', which has {count} "
                "output(s)"
            )

    @property
    def operations(self) -> list[Operation]:
        """The operations that were added."""
        return list(self._ops.values())

    def element(self, name: str) -> Any:
        """A return element: an operation, or the tensor that stands for an output."""
        if ":" not in name:
            return self._ops[name]
        op_name, index = parse_tensor_name(name)
        mapped = self.mapping.replacement(op_name, index)
        return self._ops[op_name]._outputs[index] if mapped is None else mapped


def scopes_of(graph: Graph) -> set[str]:
    """The scopes that a graph's operations are in.

    The graph keeps them, with the number of operations that were looked at: many small
    imports do not look at all of a large graph again.
    """
    kept = graph.__dict__.get("_scopes_of_operations", (0, set()))
    seen: int = kept[0]
    found: set[str] = kept[1]
    operations = graph._operations[:]  # another thread may add some
    if len(operations) < seen:  # an import was taken back
        seen, found = 0, set()
    for op in operations[seen:]:
        scope = op._name.rpartition("/")[0]
        while scope and scope not in found:
            found.add(scope)
            scope = scope.rpartition("/")[0]
    graph.__dict__["_scopes_of_operations"] = len(operations), found
    return found


def _colocated_name(group: bytes) -> str:
    return group[len(_COLOCATION) :].decode() if group.startswith(_COLOCATION) else ""


def add_control_inputs(op: Operation, control: Iterable[Operation]) -> None:
    """Adds control inputs to an operation that no session has seen yet."""
    for other in control:
        if other not in op._control_inputs:
            op._control_inputs.append(other)
            other._control_outputs.append(op)


def _declare_shape(op: Operation, index: int, shape: Any) -> None:
    """Merges what an `_output_shapes` attr says with the shape that was inferred."""
    try:
        op._outputs[index].set_shape(shape)
    except ValueError as error:
        if op._type in _OLDER_SHAPES:
            return
        raise ValueError(
            f"Node '{op.name}' has an _output_shapes attribute inconsistent with the "
            f"GraphDef for output #{index}: {error}"
        ) from None


def _op_list(proto: Any) -> Any:
    from tensorloom.protos import op_def_pb2

    if isinstance(proto, op_def_pb2.OpList):
        return proto
    return op_def_pb2.OpList.FromString(proto.SerializeToString())


def _in_graph_def_order(
    nodes: Mapping[str, Node], order: Mapping[str, int]
) -> list[Node]:
    """Producers first, and otherwise in the order that the GraphDef has."""
    if _are_in_order(nodes, order):
        return list(nodes.values())
    names = list(order)
    waiting: dict[str, int] = {}
    consumers: dict[str, list[str]] = {}
    for node in nodes.values():
        producers = {
            name
            for name in node.producers
            if name in nodes and not _is_back_edge(node, nodes[name])
        }
        waiting[node.name] = len(producers)
        for name in producers:
            consumers.setdefault(name, []).append(node.name)
    ready = [order[name] for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    result = []
    while ready:
        node = nodes[names[heapq.heappop(ready)]]
        result.append(node)
        for name in consumers.get(node.name, ()):
            waiting[name] -= 1
            if not waiting[name]:
                heapq.heappush(ready, order[name])
    return result


def _are_in_order(nodes: Mapping[str, Node], order: Mapping[str, int]) -> bool:
    """Whether the nodes come in the order of the GraphDef, and producers first."""
    last = -1
    for node in nodes.values():
        place = order[node.name]
        if place < last:
            return False
        last = place
        for name, _ in node.inputs:
            if order.get(name, -1) >= place:
                return False
        for name in node.control_inputs:
            if order.get(name, -1) >= place:
                return False
    return True


def _is_back_edge(node: Node, producer: Node) -> bool:
    return node.op in MERGES and producer.op in NEXT_ITERATIONS


def remove_operations(graph: Graph, count: int) -> None:
    """Takes back the operations made after the first `count`."""
    for op in reversed(graph._operations[count:]):
        detach(op)
        del graph._by_name[op.name]
        graph._names_in_use.pop(op.name.lower(), None)
    del graph._operations[count:]
