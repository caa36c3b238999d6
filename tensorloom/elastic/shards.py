"""The shards of a graph: what it places on one task of the job `ps`, whole.

The program builds its graph for as many parameter servers as it likes
(`replica_device_setter(ps_tasks=64)`); their tasks are shards here, and a plan says
which real server has which. Slots, update operations and a saver's shards have their
variable's device, so they stay with it without being told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.elastic.plan import Home, container
from tensorloom.framework import errors
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType

#: The job whose tasks are shards.
JOB: Final = "ps"
_REFERENCES: Final = ("Variable", "VariableV2")
_HANDLE: Final = "VarHandleOp"
_TABLE: Final = "DynamicEmbeddingTable"


@dataclass(frozen=True)
class Stored:
    """A variable, as the task knows it that holds it."""

    name: str  # within its container
    shard: int
    dtype: DType
    shape: TensorShape
    is_resource: bool

    @property
    def size(self) -> int:
        """Its bytes; 0 if they are not known, as of strings."""
        elements = self.shape.num_elements()
        return (elements or 0) * (self.dtype.base_dtype.size or 0)


@dataclass(frozen=True)
class StoredTable:
    """A table of an embedding variable, as the task knows it that holds it."""

    name: str  # within its container
    shard: int
    options: Mapping[str, Any]  # the attrs of its handle, but for its name
    slots: Mapping[str, float]  # what new rows of each hold
    #: Its bytes when it was measured last: rows come as they are trained.
    size: int = 0


def shard_of(device: str | None) -> int | None:
    """The shard that a device field names."""
    if not device or JOB not in device:
        return None
    spec = DeviceSpec.from_string(device)
    return spec.task if spec.job == JOB else None


def shards_of(graph: Graph) -> set[int]:
    """The shards that a graph has."""
    found = (shard_of(op.device) for op in graph.get_operations())
    return {shard for shard in found if shard is not None}


def stored_variables(graph: Graph) -> list[Stored]:
    """The variables of a graph that are in shards, each once."""
    found: dict[tuple[int, str, bool], Stored] = {}
    for op in graph.get_operations():
        shard = shard_of(op.device)
        if shard is None or op.type not in (*_REFERENCES, _HANDLE):
            continue
        one = Stored(
            _attr(op, "shared_name") or op.name,
            shard,
            op.get_attr("dtype").base_dtype,
            TensorShape(op.get_attr("shape")),
            op.type == _HANDLE,
        )
        found.setdefault((shard, one.name, one.is_resource), one)
    return list(found.values())


def stored_tables(graph: Graph) -> list[StoredTable]:
    """The tables of embedding variables of a graph that are in shards, each once."""
    slots: dict[Operation, dict[str, float]] = {}
    for op in graph.get_operations():
        if op.type == _TABLE:
            slots[op] = {}
        elif op.type.startswith("DynamicEmbeddingApply") and op.inputs[0].op in slots:
            names = [name.decode() for name in op.get_attr("slots")]
            fills = zip(names, op.get_attr("fills"), strict=True)
            slots[op.inputs[0].op].update(fills)
    found: dict[tuple[int, str], StoredTable] = {}
    for op, of_table in slots.items():
        shard = shard_of(op.device)
        if shard is None:
            continue
        name = _attr(op, "shared_name") or op.name
        options = {
            key: op.get_attr(key)
            for key in op.node_def.attr
            if key not in ("container", "shared_name") and not key.startswith("_")
        }
        found.setdefault((shard, name), StoredTable(name, shard, options, of_table))
    return list(found.values())


def stored(graph: Graph) -> list[Stored | StoredTable]:
    """All that can move, or be copied."""
    return [*stored_variables(graph), *stored_tables(graph)]


def sizes(
    numbers: Collection[int], variables: Iterable[Stored | StoredTable]
) -> dict[int, int]:
    """The bytes of each shard.

    Args:
      numbers: of all shards, those without variables, too.
      variables: what they hold.
    """
    found = dict.fromkeys(sorted(numbers), 0)
    for one in variables:
        found[one.shard] += one.size
    return found


def fixed_shards(graph: Graph) -> dict[int, str]:
    """Shards with what cannot be copied (as queues): the name of one such node."""
    found: dict[int, str] = {}
    for op in graph.get_operations():
        if op.type in (*_REFERENCES, _HANDLE, _TABLE):
            continue
        if "shared_name" not in op.node_def.attr:
            continue
        shard = shard_of(op.device)
        if shard is not None:
            found.setdefault(shard, op.name)
    return found


def _attr(op: Operation, name: str) -> str:
    value: Any = op.get_attr(name)
    return value.decode() if isinstance(value, bytes) else str(value or "")


@dataclass(frozen=True)
class Placement:
    """Rewrites a graph for a plan.

    Shards become the servers that have them, and their resources get containers of
    their own. What a worker has for itself under no name (queues, tables, iterators)
    gets one, so that the next session of this worker finds it.
    """

    homes: Mapping[int, Home]
    own: str  # the container of what is this worker's own

    def place(self, graph: GraphIR) -> GraphIR:
        """The graph with other devices and containers."""
        return GraphIR(
            {name: self._node(node) for name, node in graph.nodes.items()},
            {name: self._function(one) for name, one in graph.functions.items()},
            graph.producer,
            graph.min_consumer,
            graph.bad_consumers,
        )

    def _function(self, function: FunctionIR) -> FunctionIR:
        nodes = {name: self._on_server(n) for name, n in function.nodes.items()}
        if all(nodes[name] is node for name, node in function.nodes.items()):
            return function
        fields = {name: getattr(function, name) for name in function.__slots__}
        return FunctionIR(**{**fields, "nodes": nodes})

    def _node(self, node: Node) -> Node:
        placed = self._on_server(node)
        attrs = node.attrs
        if placed is not node or attrs.get("shared_name", True):
            return placed
        if node.op in (*_REFERENCES, _HANDLE) or "container" not in attrs:
            return placed
        own = {"container": self.own.encode(), "shared_name": node.name.encode()}
        return node.replace(attrs={**attrs, **own})

    def _on_server(self, node: Node) -> Node:
        shard = shard_of(node.device)
        if shard is None:
            return node
        home = self.homes.get(shard)
        if home is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Node '{node.name}' is on shard {shard}, which the worker that leads "
                f"does not have: it has {sorted(self.homes)}. All workers of an "
                "elastic job must place the same variables",
            )
        spec = DeviceSpec.from_string(node.device).replace(task=home.server)
        attrs = node.attrs
        if "container" in attrs:
            name = container(shard, home.epoch).encode()
            attrs = {**attrs, "container": name}
        return node.replace(device=spec.to_string(), attrs=attrs)
