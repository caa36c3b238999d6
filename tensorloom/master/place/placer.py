"""Placement: a full device name for every node of a pruned graph.

before: a@"" -> b@"/gpu:0"
after:  a@/job:localhost/replica:0/task:0/device:CPU:0
        -> b@/job:localhost/replica:0/task:0/device:GPU:0

A node goes where its (partial) device string and those of its colocation group allow,
its kernels exist, and the device type has the highest priority: GPUs before CPUs.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.devices.device_name import DeviceName, parse_full
from tensorloom.framework.graph.graph_ir import PRODUCER_VERSION, GraphIR, Node
from tensorloom.master.lower.placed_bodies import placed_bodies
from tensorloom.master.place.colocation import ColocationGroups, Group, parse_device

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import DeviceInfo
    from tensorloom.framework.runtime.session_config import SessionConfig

# Whether a node has a kernel on a device type.
HasKernel = Callable[[Node, str], bool]

_CPU = "CPU"
# Kinds that borrow another's kernels are chosen only where a program names them.
_PRIORITY = {"GPU": 2, _CPU: 1}
_OF_SHAPES = frozenset(["Shape", "Size", "Rank"])


class Placer:
    """Places the graphs of one session; stateful groups stay where they were put."""

    def __init__(
        self,
        devices: Sequence[DeviceInfo],
        has_kernel: HasKernel,
        config: SessionConfig,
        producer: int = PRODUCER_VERSION,
    ) -> None:
        """Makes a placer.

        Args:
          devices: of the session's tasks, those of the master's own task first.
          has_kernel: whether a node has a kernel on a device type.
          config: of the session.
          producer: the version of the graphs. Where a node may go to several devices
            of one type, TensorFlow 1 takes the first one by name, whatever the
            master, so that all masters share a variable without a device; later
            versions take one of the master's task.
        """
        self.devices = list(devices)
        self._parsed = {d.name: parse_full(d.name) for d in devices}
        by_name = producer <= PRODUCER_VERSION
        self._by_priority = sorted(
            devices,
            key=lambda d: (
                -_PRIORITY.get(d.device_type, 0),
                d.name if by_name else "",
            ),
        )
        self.has_kernel = has_kernel
        self._soft = config.allow_soft_placement
        self._log = config.log_device_placement
        self._logged: set[str] = set()
        self._groups = ColocationGroups(self._soft)
        # Where kernels exist is asked only if there is a choice of device types.
        self._single_type = len({d.device_type for d in devices}) == 1
        # Device strings that some device satisfies, and the first node that asks for
        # one that none does: TensorFlow places the whole graph, and so does such a
        # node fail every step, whether the step needs it or not.
        self._satisfiable = {"", self.devices[0].name}
        self._misplaced: Node | None = None
        self._checks_all = not config.place_pruned_graph
        if self._log:
            _log_devices(devices)

    def for_step(self) -> Placer:
        """A placer that takes note of what a step makes without the session's.

        Groups of the session that it places stay there in later steps, too.
        """
        placer = copy.copy(self)
        placer._groups = ColocationGroups(self._soft, self._groups)
        return placer

    def extend(self, nodes: Iterable[Node]) -> None:
        """Takes note of new nodes, whether a step needs them or not.

        Raises:
          errors.InvalidArgumentError: colocated nodes ask for devices that exclude
            each other.
        """
        nodes = list(nodes)
        if len(self.devices) > 1:
            self._groups.extend(nodes)
        if self._checks_all and self._misplaced is None:
            # Those of a group are for the group to decide.
            self._misplaced = self._first_misplaced(
                node for node in nodes if self._groups.group_of(node.name) is None
            )

    def _first_misplaced(self, nodes: Iterable[Node]) -> Node | None:
        """The node that TensorFlow would name, if some have no device to go to.

        What has one output and no inputs is placed after its consumers.
        """
        known, last = self._satisfiable, None
        for node in nodes:
            if node.device not in known and not self._is_satisfiable(node):
                if node.inputs or len(node.output_types) != 1:
                    return node
                last = last or node
        return last

    def _check_bodies(self, graph: GraphIR) -> None:
        for function in placed_bodies(graph):
            node = self._first_misplaced(function.nodes.values())
            if node is not None:
                raise self._misplacement(node)

    def _misplacement(self, node: Node) -> errors.OpError:
        return self._error(node, parse_device(node.device, node.name), (node,))

    def _is_satisfiable(self, node: Node) -> bool:
        requested = parse_device(node.device, node.name)
        if self._soft:
            requested = DeviceName(requested.job, requested.replica, requested.task)
        found = any(requested.covers(name) for name in self._parsed.values())
        if found:
            self._satisfiable.add(node.device)
        return found

    def device_of(self, node: Node) -> str:
        """The full device name that `place` gives a node.

        Raises:
          errors.InvalidArgumentError: no device fits.
        """
        group = self._groups.group_of(node.name)
        if group is None:
            return self._choose(node, parse_device(node.device, node.name), (node,))
        device = group.device
        if device is None:
            device = self._choose(node, group.requested, group.members)
            group.place(device)
        return device

    def group_of(self, name: str) -> Group | None:
        """The colocation group of a node, if it is in one."""
        return self._groups.group_of(name)

    def first_device(self, requested: DeviceName) -> str | None:
        """The device that a node without kernels to care for would get, if any."""
        for device in self._by_priority:
            if requested.covers(self._parsed[device.name]):
                return device.name
        return None

    def fitting(self, node: Node, requested: DeviceName) -> list[str]:
        """The devices that may have a node of no group, those of its choice first."""
        return [
            device.name
            for device in self._by_priority
            if requested.covers(self._parsed[device.name])
            and self._runs_on(device, (node,), requested)
        ]

    def place(self, graph: GraphIR) -> GraphIR:
        """The graph with a full device name in every node.

        Raises:
          errors.InvalidArgumentError: no device fits a node.
        """
        if self._misplaced is not None:
            raise self._misplacement(self._misplaced)
        self._check_bodies(graph)
        if len(self.devices) == 1:
            placed = self._place_on_only_device(graph)
        else:
            found = self._found(graph)
            placed = [
                n if n.device == found[n.name] else n.replace(device=found[n.name])
                for n in graph.nodes.values()
            ]
        if self._log:
            self._log_placement(placed)
        return graph.with_nodes(placed)

    def _place_on_only_device(self, graph: GraphIR) -> list[Node]:
        device = self.devices[0].name
        misplaced = self._first_misplaced(graph.nodes.values())
        if misplaced is not None:
            raise self._misplacement(misplaced)
        placed = []
        for n in graph.nodes.values():
            if n.device != device:
                n = Node(
                    n.name,
                    n.op,
                    n.inputs,
                    n.control_inputs,
                    device,
                    n.attrs,
                    n.output_types,
                    n.output_shapes,
                    n.source,
                )
            placed.append(n)
        return placed

    def _found(self, graph: GraphIR) -> dict[str, str]:
        """The devices of the nodes, by name.

        As in TensorFlow, what reads the shape of a tensor alone stays with the tensor,
        and a constant goes where all its consumers are: neither is worth a transfer.
        """
        found: dict[str, str] = {}
        constants: dict[str, set[str]] = {}
        for node in graph.nodes.values():
            if node.op == "Const":
                constants[node.name] = set()
            elif node.op in _OF_SHAPES:
                neighbours = {found.get(name, "") for name, _ in node.inputs}
                found[node.name] = self._beside(node, neighbours)
            else:
                found[node.name] = self.device_of(node)
        for node in graph.nodes.values():
            for name in node.producers:
                if name in constants and node.op not in ("Const", "_Retval"):
                    constants[name].add(found[node.name])
        for name, neighbours in constants.items():
            found[name] = self._beside(graph.nodes[name], neighbours)
        return found

    def _beside(self, node: Node, neighbours: set[str]) -> str:
        """The one device of the neighbours, if the node may be there."""
        chosen = self.device_of(node)
        if len(neighbours) == 1 and self._groups.group_of(node.name) is None:
            (name,) = neighbours
            device = next((d for d in self.devices if d.name == name), None)
            requested = parse_device(node.device, node.name)
            if (
                device is not None
                and requested.covers(self._parsed[name])
                and self._runs_on(device, (node,), requested)
            ):
                return name
        return chosen

    # --- choosing --------------------------------------------------------------------

    def _choose(
        self, node: Node, requested: DeviceName, members: Sequence[Node]
    ) -> str:
        """The device for nodes that belong together; `node` is named in errors."""
        if requested.is_complete:
            name = str(requested)
            if name in self._parsed and self._single_type:
                return name
        device = self._find(requested, members)
        if device is None and self._soft:
            task = DeviceName(requested.job, requested.replica, requested.task)
            device = self._find(task, members)
        if device is None:
            raise self._error(node, requested, members)
        return device.name

    def _find(
        self, requested: DeviceName, members: Sequence[Node]
    ) -> DeviceInfo | None:
        for device in self._by_priority:
            if requested.covers(self._parsed[device.name]) and self._runs_on(
                device, members, requested
            ):
                return device
        return None

    def _runs_on(
        self, device: DeviceInfo, members: Sequence[Node], requested: DeviceName
    ) -> bool:
        if self._single_type:
            return True
        kind = device.kernel_type or device.device_type
        if requested.type is None and device.device_type not in _PRIORITY:
            return False
        return all(self.has_kernel(node, kind) for node in members)

    def _error(
        self, node: Node, requested: DeviceName, members: Sequence[Node]
    ) -> errors.OpError:
        mark = f"{{{{node {node.name}}}}}"
        matching = [d for d in self.devices if requested.covers(self._parsed[d.name])]
        if not matching:
            names = ", ".join(sorted(self._parsed))
            reason = (
                f"{mark} was explicitly assigned to {requested} but available devices "
                f"are [ {names} ]. Make sure the device specification refers to a "
                "valid device."
            )
            if requested.type == "GPU" and not any(
                d.device_type == "GPU" for d in self.devices
            ):
                reason += (
                    " The requested device appears to be a GPU, but this session has "
                    "none."
                )
        else:
            kinds = {d.kernel_type or d.device_type for d in matching}
            lacking = next(
                m for m in members if not any(self.has_kernel(m, k) for k in kinds)
            )
            reason = (
                f"Could not satisfy explicit device specification '{requested}' "
                f"because no supported kernel for {', '.join(sorted(kinds))} devices "
                f"is available: op {lacking.op} of node '{lacking.name}' has none."
            )
        return errors.InvalidArgumentError(
            None,
            None,
            f"Cannot assign a device for operation {node.name}: {reason}\n\t "
            f"[[{mark}]]",
        )

    # --- the log ---------------------------------------------------------------------

    def _log_placement(self, placed: Iterable[Node]) -> None:
        for node in placed:
            if node.name not in self._logged and node.op not in ("_Arg", "_Retval"):
                self._logged.add(node.name)
                print(f"{node.name}: ({node.op}): {node.device}", file=sys.stderr)


def _log_devices(devices: Sequence[DeviceInfo]) -> None:
    print("Device mapping:", file=sys.stderr)
    for device in devices:
        if device.physical_description:
            print(f"{device.name} -> {device.physical_description}", file=sys.stderr)
