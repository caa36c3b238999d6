"""Colocation groups: nodes that must share a device.

Nodes with the same `loc:@NAME` in `_class` belong together, as do the two ends of a
reference edge and of a resource edge: the consumer works on the memory itself.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
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

    __slots__ = ("device", "leader", "members", "origins", "parent", "requested")

    def __init__(self, leader: str) -> None:
        self.leader = leader
        self.parent: Group = self
        self.members: list[Node] = []
        # What the members ask for, merged.
        self.requested = DeviceName()
        # Of a step's group: those of the session that are part of it.
        self.origins: list[Group] = []
        # The full device name, once a step has placed the group.
        self.device: str | None = None

    def place(self, device: str) -> None:
        """Says where the group is, and its origins that are nowhere yet."""
        self.device = device
        for origin in self.origins:
            if origin.device is None:
                origin.device = device

    def copy(self) -> Group:
        """A group that may grow without this one, and places it where it goes."""
        group = Group(self.leader)
        group.members = list(self.members)
        group.requested = self.requested
        group.origins = [self]
        group.device = self.device
        return group

    def absorb(self, other: Group, requested: DeviceName) -> None:
        """Makes the members of another group its own.

        Args:
          other: a group of its own.
          requested: what both ask for. A place that the other has got is kept only
            if it is such a one.
        """
        self.requested = requested
        self.members += other.members
        self.origins += other.origins
        other.parent = self
        device = self.device or other.device
        if device is not None and requested.covers(device_name.parse_full(device)):
            self.place(device)

    def root(self) -> Group:
        """The group that this one has become part of."""
        group = self
        while group.parent is not group:
            group.parent = group.parent.parent
            group = group.parent
        return group


class ColocationGroups:
    """The groups of a session's graph, which grow with it; or those of a step.

    A step makes nodes of its own, under names that another step may give to others. Its
    groups begin as the session's, and grow without them.
    """

    def __init__(self, soft: bool, session: ColocationGroups | None = None) -> None:
        """Makes the groups of no nodes.

        Args:
          soft: whether conflicting devices may be ignored.
          session: the groups of the session, if these are of a step.
        """
        self._soft = soft
        self._session = session
        self._copies: dict[Group, Group] = {}  # of the session's groups
        self._nodes: MutableMapping[str, Node] = (
            {} if session is None else ChainMap({}, session._nodes)
        )
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
        if group is not None:
            return group.root()
        if self._session is None:
            return None
        origin = self._session.group_of(name)
        return None if origin is None else self._copies.get(origin, origin).root()

    # --- joining -------------------------------------------------------------------

    def _join_class(self, node: Node, leader: str) -> None:
        if leader == node.name:
            return
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
            group = self._groups[name] = self._session_copy(name) or Group(name)
        group = group.root()
        node = self._nodes.get(name)
        if node is not None and name not in self._grouped:
            self._grouped.add(name)
            group.members.append(node)
            group.requested = self._merge(
                group.requested, _parse(node), node, group, ignore_conflict=False
            )
        return group

    def _session_copy(self, name: str) -> Group | None:
        """The step's copy of the group that a node has in the session."""
        origin = None if self._session is None else self._session.group_of(name)
        if origin is None:
            return None
        if origin not in self._copies:
            self._copies[origin] = origin.copy()
            self._grouped.update(member.name for member in origin.members)
        return self._copies[origin]

    def _union(self, name: str, leader: str, ignore_conflict: bool) -> None:
        a, b = self._group(leader), self._group(name)
        if a is b:
            return
        node = self._nodes.get(name)
        a.absorb(b, self._merge(a.requested, b.requested, node, a, ignore_conflict))

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
