"""Which loops, branches and calls have nodes on several tasks.

Only those are worth running as classic control flow, whose primitives cut across tasks;
everything else stays with one task, as functions that its worker compiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from tensorloom.framework.devices.device_name import DeviceName, task_of
from tensorloom.framework.functions.functional_op_types import BRANCHES, CALLS
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.master.place.colocation import parse_device

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
    from tensorloom.master.place.placer import Placer

# Functional ops, and the attrs that name their functions in the order of the branches.
FUNCTION_ATTRS: Final[dict[str, tuple[str, ...]]] = {
    "If": ("else_branch", "then_branch"),
    "StatelessIf": ("else_branch", "then_branch"),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
    "While": ("cond", "body"),
    "StatelessWhile": ("cond", "body"),
    **dict.fromkeys(CALLS, ("f",)),
}


def functions_of(
    node: Node, functions: Mapping[str, FunctionIR]
) -> list[FunctionIR] | None:
    """What a functional node runs; None for any other node, or if it cannot run."""
    names = [node.op] if node.op in functions else []
    for attr in FUNCTION_ATTRS.get(node.op, ()):
        value = node.attrs[attr]
        found = value if isinstance(value, list) else [value]
        names += [f.name for f in found if isinstance(f, NameAttrList)]
    if not names or any(name not in functions for name in names):
        return None
    called = [functions[name] for name in names]
    return None if any(f.problem is not None for f in called) else called


def skipped_inputs(node: Node) -> int:
    """How many of a functional node's inputs are not arguments of its functions."""
    return int(node.op in BRANCHES)


def inside(outer: str, inner: str, node_name: str) -> str:
    """The device of a body's node: what it leaves open is as the call says."""
    if not inner or inner == outer:
        return outer
    if not outer:
        return inner
    mine, theirs = parse_device(inner, node_name), parse_device(outer, node_name)
    task = DeviceName(mine.job, mine.replica, mine.task)
    if not task.is_compatible_with(theirs):
        return inner
    return str(mine.merged_with(theirs))


class TaskSpans:
    """Tells of nodes whether they span tasks; `placer` knows the graph around."""

    def __init__(self, functions: Mapping[str, FunctionIR], placer: Placer) -> None:
        self._functions = functions
        self._placer = placer
        self._nodes: Mapping[str, Node] = {}

    def spans(self, node: Node, nodes: Mapping[str, Node]) -> bool:
        """Whether a node runs functions with nodes on more than one task.

        Args:
          node: of the graph `nodes`.
          nodes: its producers among them, all known to the placer.
        """
        called = functions_of(node, self._functions)
        if called is None:
            return False
        self._nodes = nodes
        tasks = {task_of(self._placer.device_of(node))}
        arguments: list[str | None] = []
        for name, index in node.inputs[skipped_inputs(node) :]:
            producer = nodes[name]
            dtype = producer.output_types[index]
            place = None
            if dtype is dtypes.resource or dtype._is_ref_dtype:
                place = task_of(self._placer.device_of(producer))
            arguments.append(place)
        for function in called:
            self._add_tasks(function, node.device, arguments, tasks, ())
        return len(tasks) > 1

    def _add_tasks(
        self,
        function: FunctionIR,
        device: str,
        arguments: Iterable[str | None],
        tasks: set[str],
        path: tuple[str, ...],
    ) -> None:
        """Adds the tasks of a body's nodes, as far as they ask for any."""
        if function.name in path:
            return
        held = dict(zip(function.arg_names, arguments, strict=True))
        for node in function.nodes.values():
            own_device = inside(device, node.device, node.name)
            called = functions_of(node, self._functions)
            if called is not None:
                given = [held.get(n) for n, _ in node.inputs[skipped_inputs(node) :]]
                for inner in called:
                    self._add_tasks(
                        inner, own_device, given, tasks, (*path, function.name)
                    )
                continue
            place = self._held_place(node, held)
            if place is None and not node.device and is_variable(node):
                place = self._place_of_variable(node)
            elif place is None and node.device:
                task = self._task_of(own_device, node.name)
                if task is not None and not has_variant(node, function):
                    place = task
            if place is not None:
                tasks.add(place)
            if any(t is dtypes.resource or t._is_ref_dtype for t in node.output_types):
                held[node.name] = place

    @staticmethod
    def _held_place(node: Node, held: Mapping[str, str | None]) -> str | None:
        """The task of a variable or another resource that the node works on."""
        for name, _ in node.inputs:
            place = held.get(name)
            if place is not None:
                return place
        return None

    def _place_of_variable(self, node: Node) -> str | None:
        """Where the variable is that a body has a node of its own for."""
        variable = self._nodes.get(node.attrs["shared_name"].decode())
        if variable is None:
            return None
        return task_of(self._placer.device_of(variable))

    def _task_of(self, device: str, node_name: str) -> str | None:
        name = parse_device(device, node_name)
        if name.job is None and name.task is None:
            return None
        found = self._placer.first_device(name)
        return task_of(found) if found is not None else None


def is_variable(node: Node) -> bool:
    """Whether a node gives a variable that other nodes of its name give as well."""
    return node.op in ("Variable", "VariableV2") and bool(node.attrs["shared_name"])


def has_variant(node: Node, function: FunctionIR) -> bool:
    """Whether a node makes or takes a list, which stays where its loop is."""
    if dtypes.variant in node.output_types:
        return True
    types = dict(zip(function.arg_names, function.arg_types, strict=True))
    for name, index in node.inputs:
        producer = function.nodes.get(name)
        dtype = types.get(name) if producer is None else producer.output_types[index]
        if dtype is dtypes.variant:
            return True
    return False


def classic_spans(pruned: GraphIR, functional: GraphIR, placer: Placer) -> bool:
    """Whether a loop or branch of classic nodes has nodes on several tasks.

    Args:
      pruned: the graph as it came.
      functional: the same with loops and branches as functions, whose bodies keep the
        names of the nodes.
      placer: knows the nodes of `pruned`.
    """
    new = functional.functions.keys() - pruned.functions.keys()
    for node in functional.nodes.values():
        called = functions_of(node, functional.functions)
        if called is None or node.name in pruned.nodes:
            continue
        tasks = {task_of(placer.device_of(node))}
        pending = [f for f in called if f.name in new]
        while pending:
            function = pending.pop()
            for inner in function.nodes.values():
                own = pruned.nodes.get(inner.name)
                if own is not None:
                    tasks.add(task_of(placer.device_of(own)))
                deeper = functions_of(inner, functional.functions) or []
                pending += [f for f in deeper if f.name in new]
        if len(tasks) > 1:
            return True
    return False


def branches_on_references(pruned: GraphIR, functional: GraphIR) -> bool:
    """Whether a loop or branch of classic nodes takes a variable by reference.

    TensorFlow's workers run it as it came, but take no references into functions.
    """
    return any(
        functional.nodes[source].output_types[index]._is_ref_dtype
        for name, node in functional.nodes.items()
        if name not in pruned.nodes and functions_of(node, functional.functions)
        for source, index in node.inputs
    )
