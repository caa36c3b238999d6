"""Partitioning: one graph a device or task, joined by `_Send` and `_Recv` nodes.

The master splits a step by task, the worker splits its part by device, with the same
function. Each tensor is sent once to each place that needs it. The order of the nodes
is the order of the whole graph: a Send comes right after what it sends and a Recv
right before its first use, so that pieces which run in that order cannot wait for each
other in a circle. Loops of classic control flow get what `control_loops` adds; their
pieces run in no order but that of their tokens.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.graph.graph_ir import GraphIR, Node, sort_topologically
from tensorloom.framework.partition import control_loops
from tensorloom.framework.partition.waiting_ops import WAITS_FOR, Waits
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

_CONTROL = -1  # the output index that stands for a control edge
# What goes over: a node's output, to a device; or to one node there, which it is for.
_Edge = tuple[str, int, str, str]
# On a Send and its Recv: the variable itself goes over, and is read where it is used.
BY_REFERENCE = "_by_reference"
# On a Send: the tensor may wait for others, see `master/run/deferrable_sends.py`.
DEFERRABLE = "_deferrable"


def partition(
    graph: GraphIR,
    place_of: Callable[[Node], str],
    incarnation_of: Mapping[str, int],
    suffix: str = "_G",
    waits: Waits | None = None,
    numbers: Iterator[int] | None = None,
    sends_as: Mapping[dtypes.DType, dtypes.DType] | None = None,
) -> dict[str, GraphIR]:
    """Splits a placed graph.

    before: a@A -> b@B
    after:  A: a -> _Send      B: _Recv -> b

    Args:
      graph: nodes in topological order, with full device names.
      place_of: the part that a node belongs to: its device, or its device's task.
      incarnation_of: by device name.
      suffix: what new nodes' names add: `_S` for a master, `_G` for a worker.
      waits: by node, the ops that it may have to wait for; `_waits_for` says so on the
        Recvs of what they give.
      numbers: for the names of new nodes, from 1 on if not given. TensorFlow's workers
        keep one Send or Recv for each name as long as a session lasts, so all graphs of
        a session that go there must have different ones.
      sends_as: by dtype, the one that tensors of it travel in; others travel as they
        are.

    Returns:
      The parts by place, in the order of their first nodes.
    """
    places = {node.name: place_of(node) for node in graph.nodes.values()}
    if len(set(places.values())) <= 1:
        return {place: graph for place in places.values()}
    graph, frames = control_loops.with_control_loops(graph, place_of)
    if frames.paths:
        places = {node.name: place_of(node) for node in graph.nodes.values()}
    splitter = _Splitter(
        graph,
        places,
        incarnation_of,
        suffix,
        frames,
        waits or {},
        numbers or itertools.count(1),
        sends_as or {},
    )
    return splitter.split()


class _Splitter:
    def __init__(
        self,
        graph: GraphIR,
        places: Mapping[str, str],
        incarnation_of: Mapping[str, int],
        suffix: str,
        frames: control_loops.Frames,
        waits: Waits,
        numbers: Iterator[int],
        sends_as: Mapping[dtypes.DType, dtypes.DType],
    ) -> None:
        self.waits = waits
        self.sends_as = sends_as
        self.numbers = numbers
        self.frames = frames
        self.graph = graph
        self.places = places
        self.incarnation_of = incarnation_of
        self.suffix = suffix
        self.parts: dict[str, list[Node]] = {}
        # what goes over -> what stands for it there
        self.received: dict[_Edge, str] = {}
        # the same -> the dtype of what a Recv gives in another one
        self.widened: dict[_Edge, dtypes.DType] = {}
        self.place_of_device = {
            node.device: places[node.name] for node in graph.nodes.values()
        }
        self.wanted = self._destinations()
        self.recvs: dict[_Edge, Node] = {}
        self.has_dead_tensors = control_loops.has_dead_tensors(graph)

    def _destinations(self) -> dict[str, list[tuple[int, str]]]:
        """For each node: the (output, device) pairs elsewhere that need it."""
        wanted: dict[str, dict[tuple[int, str], None]] = {}
        for node in self.graph.nodes.values():
            for name, index in self._edges(node):
                if self.places[name] == self.places[node.name]:
                    continue
                if not self._is_read_late(name, index, node):
                    wanted.setdefault(name, {})[index, node.device] = None
                    continue
                source = self.graph.nodes[name]
                for before in node.control_inputs:
                    if self.places[before] != self.places[name]:
                        wanted.setdefault(before, {})[_CONTROL, source.device] = None
        return {name: list(pairs) for name, pairs in wanted.items()}

    @staticmethod
    def _edges(node: Node) -> list[tuple[str, int]]:
        return [*node.inputs, *((name, _CONTROL) for name in node.control_inputs)]

    def _is_read_late(self, name: str, index: int, node: Node) -> bool:
        """Whether an input is a variable of another task, to be read after an update.

        It is sent when what the node has to wait for is done, and to the node alone. In
        TensorFlow its Recv waits; what is sent is a buffer, read when it is asked for.
        """
        if index == _CONTROL or not node.control_inputs or self.frames.paths:
            return False
        source = self.graph.nodes[name]
        is_variable = source.output_types[index]._is_ref_dtype
        return is_variable and task_of(source.device) != task_of(node.device)

    def split(self) -> dict[str, GraphIR]:
        for node in self.graph.nodes.values():
            part = self.parts.setdefault(self.places[node.name], [])
            part.append(self._rewired(node, part))
            for index, device in self.wanted.get(node.name, ()):
                self._send(node, index, device, part)
        return {
            place: self.graph.with_nodes(self._sorted(nodes))
            for place, nodes in self.parts.items()
        }

    def _sorted(self, part: list[Node]) -> list[Node]:
        """A Recv in a loop follows what starts its iterations."""
        if not self.frames.paths:
            return part
        return sort_topologically({node.name: node for node in part})

    def _rewired(self, node: Node, part: list[Node]) -> Node:
        """The node with edges from elsewhere replaced by Recvs."""
        here = self.places[node.name]
        if all(self.places[name] == here for name, _ in self._edges(node)):
            return node
        # What must have happened before comes first: it may be an update of an input.
        control = tuple(
            name
            if self.places[name] == here
            else self._recv((name, _CONTROL, node.device, ""), part)
            for name in node.control_inputs
        )
        inputs = tuple(
            (name, index)
            if self.places[name] == here
            else (self._recv(self._edge_to(name, index, node), part), 0)
            for name, index in node.inputs
        )
        return node.replace(inputs=inputs, control_inputs=control)

    def _edge_to(self, name: str, index: int, node: Node) -> _Edge:
        """What goes over for an input; a variable that is read late is sent now."""
        if not self._is_read_late(name, index, node):
            return name, index, node.device, ""
        key = name, index, node.device, node.name
        if key not in self.recvs:
            source = self.graph.nodes[name]
            there = self.parts.setdefault(self.places[name], [])
            control = tuple(
                before
                if self.places[before] == self.places[name]
                else self._recv((before, _CONTROL, source.device, ""), there)
                for before in node.control_inputs
            )
            self._send(source, index, node.device, there, node, control)
        return key

    def _recv(self, key: _Edge, part: list[Node]) -> str:
        """The Recv of a tensor on a device, made before its first use there."""
        _, index, _, _ = key
        if key not in self.received:
            last = recv = self.recvs[key]
            part.append(recv)
            if index == _CONTROL and self.has_dead_tensors:
                # To TensorFlow's executor a Recv lives whatever it receives: only
                # what takes its tensor is dead.
                last = _identity(recv)
                part.append(last)
            elif key in self.widened:
                last = _cast(recv, 0, self.widened[key], f"{recv.name}_cast")
                part.append(last)
            self.received[key] = last.name
        return self.received[key]

    def _send(
        self,
        node: Node,
        index: int,
        device: str,
        part: list[Node],
        reader: Node | None = None,
        control: tuple[str, ...] = (),
    ) -> None:
        number = next(self.numbers)
        key = node.name, index, device, "" if reader is None else reader.name
        source, output = node, index
        if index == _CONTROL:
            # A control edge travels as an empty tensor behind the node.
            source = self._dummy(node, number)
            part.append(source)
            output = 0
        dtype = source.output_types[output].base_dtype
        narrow = self.sends_as.get(dtype, dtype)
        if index != _CONTROL and narrow is not dtype:
            self.widened[key] = dtype
            name = f"{node.name}{self.suffix}{number}_cast"
            source, output, dtype = _cast(source, output, narrow, name), 0, narrow
            part.append(source)
        attrs = self._attrs(node, device, number)
        if self._shares_memory(source.output_types[output], node.device, device):
            attrs[BY_REFERENCE] = True
        part.append(
            Node(
                f"{node.name}{self.suffix}{number}",
                "_Send",
                ((source.name, output),),
                control,
                node.device,
                {"T": dtype, **attrs},
                (),
                (),
                node.source,
            )
        )
        shapes = source.output_shapes
        self.recvs[key] = Node(
            f"{node.name}{self.suffix}{number}_recv",
            "_Recv",
            (),
            self.frames.trigger(node.name, self.place_of_device[device]),
            device,
            {"tensor_type": dtype, **attrs, **self._waits_for(node, reader)},
            (dtype,),
            None if shapes is None else (shapes[output],),
            node.source,
        )

    def _shares_memory(self, dtype: dtypes.DType, source: str, device: str) -> bool:
        """Whether a reference variable stays one on the way.

        A read elsewhere then sees the updates that it was told to wait for, as it
        does in TensorFlow, where both ends hold the same buffer.
        """
        return (
            dtype._is_ref_dtype
            and ":CPU:" in source
            and ":CPU:" in device
            and task_of(source) == task_of(device)
        )

    def _attrs(self, node: Node, device: str, number: int) -> dict[str, Any]:
        return {
            "tensor_name": f"edge_{number}_{node.name}".encode(),
            "send_device": node.device.encode(),
            "send_device_incarnation": self.incarnation_of[node.device],
            "recv_device": device.encode(),
            "client_terminated": False,
        }

    def _waits_for(self, node: Node, reader: Node | None) -> dict[str, Any]:
        """The attr of a Recv of what a node gives."""
        before = (node.name, *(() if reader is None else reader.control_inputs))
        waits = {op for name in before for op in self.waits.get(name, ())}
        if not waits:
            return {}
        return {WAITS_FOR: [op.encode() for op in sorted(waits)]}

    def _dummy(self, node: Node, number: int) -> Node:
        value = np.zeros([0], np.float32)
        return Node(
            f"{node.name}{self.suffix}{number}_control",
            "Const",
            (),
            (node.name,),
            node.device,
            {"dtype": dtypes.float32, "value": value},
            (dtypes.float32,),
            (TensorShape.of((0,)),),
            node.source,
        )


def _cast(source: Node, output: int, dtype: dtypes.DType, name: str) -> Node:
    """An output in another dtype; in bfloat16 its low bits are cut off."""
    shapes = source.output_shapes
    attrs = {
        "SrcT": source.output_types[output].base_dtype,
        "DstT": dtype,
        "Truncate": dtype is dtypes.bfloat16,
    }
    return Node(
        name,
        "Cast",
        ((source.name, output),),
        (),
        source.device,
        attrs,
        (dtype,),
        None if shapes is None else (shapes[output],),
        source.source,
    )


def _identity(recv: Node) -> Node:
    dtype = recv.output_types[0]
    return Node(
        f"{recv.name}_identity",
        "Identity",
        ((recv.name, 0),),
        (),
        recv.device,
        {"T": dtype},
        (dtype,),
        recv.output_shapes,
        recv.source,
    )
