"""Colocation groups: nodes that must share a device.

Nodes with the same `loc:@NAME` in `_class` belong together, as do the two ends of a
reference edge and of a resource edge: the consumer works on the memory itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.devices.device_name import DeviceName
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import OpDef, arg_types
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node


class Group:
    """A set of colocated nodes."""

    __slots__ = ("device", "leader", "members", "parent", "requested")

    def __init__(self, leader: str) -> None:
        self.leader = leader
        self.parent: Group = self
        self.members: list[Node] = []
        # What the members ask for, merged.
        self.requested = DeviceName()
        # The full device name, once a step has placed the group.
        self.device: str | None = None

    def root(self) -> Group:
        """The group that this one has become part of."""
        group = self
        while group.parent is not group:
            group.parent = group.parent.parent
            group = group.parent
        return group


class ColocationGroups:
    """The groups of a session's graph; grows with it."""

    def __init__(self, soft: bool) -> None:
        self._soft = soft  # whether conflicting devices may be ignored
        self._nodes: dict[str, Node] = {}
        self._groups: dict[str, Group] = {}
        self._grouped: set[str] = set()  # nodes that are members of a group

    def extend(self, nodes: Iterable[Node]) -> None:
        """Adds nodes, each after its inputs.

        Raises:
          errors.InvalidArgumentError: colocated nodes ask for devices that exclude
            each other, or a device string is malformed.
        """
        for node in nodes:
            self._nodes[node.name] = node
            for group in node.attrs.get("_class", ()):
                if group.startswith(b"loc:@"):
                    self._join_class(node, group[5:].decode())
            if node.inputs:
                self._join_inputs(node)

    def group_of(self, name: str) -> Group | None:
        """The group of a node; None when it is alone."""
        group = self._groups.get(name)
        return None if group is None else group.root()

    # --- joining -------------------------------------------------------------------

    def _join_class(self, node: Node, leader: str) -> None:
        if leader == node.name:
            return
        other = self._nodes.get(leader)
        if other is None:  # the name alone is a group too
            self._groups.setdefault(leader, Group(leader))
        self._union(node.name, leader, ignore_conflict=False)

    def _join_inputs(self, node: Node) -> None:
        for index, (name, output) in enumerate(node.inputs):
            producer = self._nodes.get(name)
            if producer is None:
                continue
            dtype = producer.output_types[output]
            if dtype is dtypes.resource or (
                dtype._is_ref_dtype and takes_reference(node, index)
            ):
                if calls_functions(node) and self._are_apart(node.name, name):
                    continue  # the call is taken apart: see `lower_functional`
                self._union(node.name, name, ignore_conflict=True)

    def _are_apart(self, name: str, other: str) -> bool:
        """Whether two nodes' groups belong to different tasks."""
        mine = _without_device(self._group(name).requested)
        theirs = _without_device(self._group(other).requested)
        return not mine.is_compatible_with(theirs)

    def _group(self, name: str) -> Group:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = Group(name)
        group = group.root()
        node = self._nodes.get(name)
        if node is not None and name not in self._grouped:
            self._grouped.add(name)
            group.members.append(node)
            group.requested = self._merge(
                group.requested, _parse(node), node, group, ignore_conflict=False
            )
        return group

    def _union(self, name: str, leader: str, ignore_conflict: bool) -> None:
        a, b = self._group(leader), self._group(name)
        if a is b:
            return
        node = self._nodes.get(name)
        a.requested = self._merge(a.requested, b.requested, node, a, ignore_conflict)
        a.members += b.members
        a.device = a.device or b.device
        b.parent = a

    def _merge(
        self,
        mine: DeviceName,
        theirs: DeviceName,
        node: Node | None,
        group: Group,
        ignore_conflict: bool,
    ) -> DeviceName:
        if mine.is_compatible_with(theirs):
            return mine.merged_with(theirs)
        # Over a reference edge the memory's place wins; so it does, in soft placement,
        # for the type and number of any device.
        if ignore_conflict:
            return mine
        if self._soft and _without_device(mine).is_compatible_with(
            _without_device(theirs)
        ):
            return mine.merged_with(_without_device(theirs))
        name = node.name if node is not None else group.leader
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Cannot colocate nodes {{{{node {name}}}}} and "
            f"{{{{node {group.leader}}}}}: Cannot merge devices with incompatible "
            f"{_conflict(mine, theirs)}: '{theirs}' and '{mine}'\n\t "
            f"[[{{{{node {name}}}}}]]",
        )


def _without_device(name: DeviceName) -> DeviceName:
    return DeviceName(name.job, name.replica, name.task)


def _conflict(a: DeviceName, b: DeviceName) -> str:
    for field in ("job", "replica", "task", "type", "id"):
        mine, theirs = getattr(a, field), getattr(b, field)
        if mine is not None and theirs is not None and mine != theirs:
            return f"{field}s"
    return "names"


def _parse(node: Node) -> DeviceName:
    return parse_device(node.device, node.name)


def parse_device(device: str, node_name: str) -> DeviceName:
    """A node's device string.

    Raises:
      errors.InvalidArgumentError: it is malformed.
    """
    try:
        return device_name.parse(device)
    except ValueError:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Malformed device specification '{device}' in node: "
            f"{{{{node {node_name}}}}}",
        ) from None


def calls_functions(node: Node) -> bool:
    """Whether a node runs functions: a loop, a branch or a call."""
    op_def = op_registry.find(node.op)
    return op_def is None or any(
        attr.type in ("func", "list(func)") for attr in op_def.attrs.values()
    )


def takes_reference(node: Node, index: int) -> bool:
    """Whether that input of the node is one that it writes through."""
    op_def = op_registry.find(node.op)
    if op_def is None:
        return False
    flags = _reference_flags(op_def, node.attrs)
    return index < len(flags) and flags[index]


def _reference_flags(op_def: OpDef, attrs: Mapping[str, object]) -> list[bool]:
    if not any(arg.is_ref for arg in op_def.inputs):
        return []
    flags: list[bool] = []
    for arg in op_def.inputs:
        flags += [arg.is_ref] * len(arg_types(arg, dict(attrs)))
    return flags
