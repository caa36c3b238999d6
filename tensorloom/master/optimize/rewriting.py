"""The one place through which passes remove and replace nodes.

A node that goes owes two things to those that stood on it. *Order*: who came after the
node, and so after all that it waited for, still does, though the edge that said so may
have led through an operand that was dropped:

before: zeros = Const(^write);  a = Add(zeros, x);  b = Exp(a)
after:  a = Identity(x, ^write);                    b = Exp(a)

*Moment*: a value stays what it was when it was made. What shows a reference variable,
the reference or an identity of it, is read by who uses it, when that runs. It stands in
for no value, and a read moves to another node only if no write can come between.

docs/rewrites.md says what follows from these two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime.stage_journal import Rewrite
from tensorloom.master.optimize.clusters.compilable import MARKS
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, is_pure
from tensorloom.master.optimize.redirection import Redirection, with_inputs

if TYPE_CHECKING:
    from tensorloom.master.optimize.target import OptimizeTarget

#: Ops whose output is their input: of a reference, the variable's own memory.
IDENTITIES: Final = frozenset({"Identity", "StopGradient", "PreventGradient"})

#: What is there before anything runs: to come after it means nothing.
ALWAYS_READY: Final = frozenset(
    {"Const", "_Arg", "VariableV2", "Variable", "VarHandleOp"}
)

# So many pure nodes are looked through for what they wait for; then one waits for them.
_MOST_LOOKED_THROUGH: Final = 32


class Rewriting:
    """A graph while a pass goes through it in topological order.

    `nodes` are those of the new graph so far; a pass may add to it. `rule` is what the
    journal is told of what comes next, where a pass has several rules.
    """

    def __init__(self, graph: GraphIR, target: OptimizeTarget) -> None:
        self.graph = graph
        self.target = target
        self.nodes: dict[str, Node] = {}
        self.rule = ""
        self._redirection = Redirection()
        # By name of a bypassed identity: what it copies, and all that it waits for.
        self._bypassed: dict[str, tuple[Edge, tuple[str, ...]]] = {}
        self._changes_references: bool | None = None
        self._readers: dict[str, set[str]] | None = None
        self._waited: set[str] | None = None

    # --- nodes -----------------------------------------------------------------------

    def current(self, node: Node) -> Node:
        """A node of the old graph with what stands in for its inputs by now."""
        node = self._redirection.apply(node)
        return _past_bypassed(node, self._bypassed) if self._bypassed else node

    def keep(self, node: Node) -> None:
        """Adds a node to the new graph."""
        self.nodes[node.name] = node

    def result(self) -> GraphIR:
        """The new graph."""
        return self.graph.with_nodes(self.nodes.values())

    # --- rewrites --------------------------------------------------------------------

    def replace(self, node: Node, edge: Edge, inside: Sequence[Node] = ()) -> bool:
        """Puts another output in the place of the only output of a node.

        What the node owes is left to an Identity under its name, if it owes anything.

        Args:
          node: equal in value to `edge`; with its inputs as they are now.
          inside: nodes between `edge` and the node, whose work is superfluous too.

        Returns:
          False if that cannot be, and the node must be kept: it is fetched, or on
          another device, or the output is not of its dtype, or it shows a variable.
        """
        producer = self.nodes[edge[0]]
        if (
            node.name in self.target.preserve
            # Also false for a reference in the place of a value.
            or producer.output_types[edge[1]] is not node.output_types[0]
            or producer.device != node.device
            or producer.op in CONTROL_FLOW
        ):
            return False
        passes_on = node.op in IDENTITIES and all(n.op in IDENTITIES for n in inside)
        # Where the step writes to no variable, readers may read instead of the node;
        # not if some only wait for the node, for then nobody would, nor if others need
        # what was read before.
        if not passes_on and (
            self.shows_variable(edge)
            or (
                shows_variable(self.nodes, edge, arguments=False)
                and (
                    node.name in self._waited_for()
                    or not self._are_only_read_by(inside, node)
                )
            )
        ):
            return False
        waits = self.owed((node, *inside), (edge,))
        self._tell("replaced", (node,), (edge[0],))
        if not waits:
            self._redirection.replace_output((node.name, 0), edge)
            self._redirection.replace_control(node.name, (edge[0],))
            return True
        self.keep(_identity(node, edge, waits))
        return True

    def bypass(self, node: Node) -> bool:
        """Connects readers of an identity with what it copies, and with what it awaits.

        Returns:
          False if that cannot be, and the node must be kept.
        """
        if node.op not in IDENTITIES or node.name in self.target.preserve:
            return False
        name, index = node.inputs[0]
        producer = self.nodes[name]
        if (
            producer.output_types[index] is not node.output_types[0]
            or producer.device != node.device
            or producer.op in CONTROL_FLOW
        ):
            return False
        self._bypassed[node.name] = node.inputs[0], node.control_inputs
        self._tell("bypassed", (node,), (name,))
        return True

    def merge(self, node: Node, twin: Node) -> bool:
        """Puts a node that computes the same of the same in the place of a node."""
        if node.name in self.target.preserve:
            return False
        self._tell("merged", (node,), (twin.name,))
        outputs = [(twin.name, i) for i in range(len(node.output_types))]
        self._redirect(node, outputs, (twin.name,) if outputs else ())
        return True

    def redirect(
        self, node: Node, outputs: Sequence[Edge], after: tuple[str, ...] | None = None
    ) -> None:
        """Puts outputs of a replacement in the place of a node's.

        Args:
          outputs: one for each of the node's; ("", 0) for one that nobody reads.
          after: what those wait for that waited for the node; None: the replacement. It
            must come after all that the node came after.
        """
        names = tuple(dict.fromkeys(name for name, _ in outputs if name))
        waits = names if after is None else after
        # A node without outputs is waited for only: those stand in for it.
        self._tell("redirected", (node,), names or waits)
        self._redirect(node, outputs, waits)

    def _redirect(
        self, node: Node, outputs: Sequence[Edge], after: tuple[str, ...]
    ) -> None:
        for index, edge in enumerate(outputs):
            self._redirection.replace_output((node.name, index), edge)
        self._redirection.replace_control(node.name, after)

    def fused(self, node: Node, new: Node, inside: Sequence[Node] = ()) -> Node | None:
        """What takes the place of a node and does the work of some before it.

        Args:
          new: it has the name of `node`, or another; its control inputs do not matter.
          inside: the nodes before it whose work it does.

        Returns:
          `new`, which waits for what all of them waited for; None if it would read a
          variable at another moment than they did.
        """
        if not self.reads_in_time(node, new.inputs, inside):
            return None
        waits = self.owed((node, *inside), new.inputs)
        new = _with_marks(node, new)
        old = inside if new.name == node.name else (node, *inside)
        self._tell("fused", old, (new.name,))
        return new if waits == new.control_inputs else new.replace(control_inputs=waits)

    def _tell(self, kind: str, nodes: Iterable[Node], by: tuple[str, ...]) -> None:
        """Tells the journal, if there is one, what stands in for nodes."""
        if self.target.journal is not None:
            for node in nodes:
                self.target.journal.rewrite(Rewrite(kind, node.name, by, self.rule))

    def _waited_for(self) -> set[str]:
        """The nodes that others wait for, or pass on without reading."""
        if self._waited is None:
            self._waited = {
                name
                for node in self.graph.nodes.values()
                for name in (
                    node.producers if node.op in IDENTITIES else node.control_inputs
                )
            }
        return self._waited

    # --- what is owed ----------------------------------------------------------------

    def owed(self, old: Iterable[Node], inputs: Iterable[Edge]) -> tuple[str, ...]:
        """The control inputs of a node with these inputs that replaces some others.

        All that the old nodes waited for: their control inputs, and what the operands
        wait for that the new node does without.
        """
        old = tuple(old)
        gone = {node.name for node in old}
        taken = {name for name, _ in inputs}
        waits: dict[str, None] = {}
        for node in old:
            for name in node.control_inputs:
                if name not in taken and name not in gone:
                    waits[name] = None
        for node in old:
            for name, _ in node.inputs:
                if name not in taken and name not in gone:
                    self._add_waits(name, taken, waits)
        return tuple(waits)

    def _add_waits(self, operand: str, taken: set[str], waits: dict[str, None]) -> None:
        """Adds what is to be waited for in place of an operand that is dropped."""
        found: dict[str, None] = {}
        stack, seen = [operand], {operand}
        while stack:
            name = stack.pop()
            node = self.nodes.get(name)
            if node is not None and node.op in ALWAYS_READY:
                before: Sequence[str] = node.control_inputs
            elif node is not None and self._can_be_skipped(node):
                before = node.producers
            else:
                found[name] = None
                continue
            for other in before:
                if other not in seen and other not in taken:
                    seen.add(other)
                    stack.append(other)
            if len(seen) > _MOST_LOOKED_THROUGH:
                waits[operand] = None
                return
        waits.update(found)

    def _can_be_skipped(self, node: Node) -> bool:
        """Whether to wait for the node is to wait for what it waits for.

        A read of a variable is waited for even if this step writes to none: another
        step may, once this one has put something into a queue.
        """
        if node.op == "NoOp":
            return node.name not in self.target.preserve
        return is_pure(node) and not any(
            shows_variable(self.nodes, edge, arguments=False)
            or self.shows_variable(edge)
            for edge in node.inputs
        )

    # --- moments ---------------------------------------------------------------------

    def shows_variable(self, edge: Edge) -> bool:
        """Whether an output may be the memory of a variable, and change."""
        return self.changes_references and shows_variable(self.nodes, edge)

    @property
    def changes_references(self) -> bool:
        """Whether something in the step may write through a reference."""
        if self._changes_references is None:
            self._changes_references = changes_references(self.graph, self.target)
        return self._changes_references

    def reads_in_time(
        self, node: Node, inputs: Iterable[Edge], inside: Sequence[Node]
    ) -> bool:
        """Whether a node may read these, which nodes inside of it have read so far.

        It may if a read moves only past nodes on which nobody else stands: what comes
        after the read then comes after the node, too.
        """
        own = set(node.inputs)
        moved = [e for e in inputs if e not in own and e[0] in self.nodes]
        if not any(self.shows_variable(edge) for edge in moved):
            return True
        return self._are_only_read_by(inside, node)

    def _are_only_read_by(self, inside: Sequence[Node], node: Node) -> bool:
        """Whether nobody else stands on the nodes inside of a node."""
        if self._readers is None:
            self._readers = _readers(self.graph)
        readers = self._readers
        names = {node.name, *(n.name for n in inside)}
        return all(
            readers.get(n.name, set()) <= names and n.name not in self.target.preserve
            for n in inside
        )


def _identity(node: Node, edge: Edge, waits: tuple[str, ...]) -> Node:
    """What stays of a node that owes something: a copy under its name."""
    attrs = {key: value for key, value in node.attrs.items() if key[0] == "_"}
    return node.replace(
        op=node.op if node.op in IDENTITIES else "Identity",
        inputs=(edge,),
        control_inputs=waits,
        attrs={**attrs, "T": node.output_types[0]},
    )


def _with_marks(old: Node, new: Node) -> Node:
    """A node that is to be compiled as the one whose place it takes."""
    marks = {key: old.attrs[key] for key in MARKS if key in old.attrs}
    if not marks or all(key in new.attrs for key in marks):
        return new
    return new.replace(attrs={**new.attrs, **marks})


def as_group(node: Node) -> Node:
    """A node that is only waited for, without its work: it waits for what it did."""
    return Node(
        node.name,
        "NoOp",
        (),
        tuple(dict.fromkeys(node.producers)),
        node.device,
        {},
        (),
        (),
        node.source,
    )


def _past_bypassed(
    node: Node, bypassed: Mapping[str, tuple[Edge, tuple[str, ...]]]
) -> Node:
    """The node with edges from bypassed identities replaced."""
    inputs: list[Edge] = []
    waits = dict.fromkeys(node.control_inputs)
    changed = False
    for edge in node.inputs:
        found = bypassed.get(edge[0])
        if found is None:
            inputs.append(edge)
        else:
            changed = True
            inputs.append(found[0])
            waits.update(dict.fromkeys(found[1]))
    for name in node.control_inputs:
        found = bypassed.get(name)
        if found is not None:
            changed = True
            del waits[name]
            waits[found[0][0]] = None
            waits.update(dict.fromkeys(found[1]))
    if not changed:
        return node
    for name, _ in inputs:
        waits.pop(name, None)
    return with_inputs(node, tuple(inputs), tuple(waits))


# --- references -----------------------------------------------------------------------


def shows_variable(
    nodes: Mapping[str, Node], edge: Edge, arguments: bool = True
) -> bool:
    """Whether an output is a reference, or an identity of one.

    Args:
      arguments: so may be those of a function.
    """
    while True:
        node = nodes.get(edge[0])
        if node is None:
            return False
        if node.output_types[edge[1]]._is_ref_dtype:
            return True
        if node.op == "_Arg":
            # A function may be given what shows a variable; its arguments are on no
            # device. What is fed is a value.
            return arguments and not node.device
        if node.op not in IDENTITIES:
            return False
        edge = node.inputs[0]


def changes_references(graph: GraphIR, target: OptimizeTarget) -> bool:
    """Whether a step may write through a reference, in functions too."""
    if target.changes_references is not None:
        return target.changes_references
    return any(_writes_reference(node.op) for node in graph.nodes.values()) or any(
        _writes_reference(node.op)
        for function in graph.functions.values()
        for node in function.nodes.values()
    )


_WRITES: dict[str, bool] = {}


def _writes_reference(op: str) -> bool:
    known = _WRITES.get(op)
    if known is None:
        op_def = op_registry.find(op)
        if op_def is None:
            return False
        known = _WRITES[op] = any(arg.is_ref for arg in op_def.inputs)
    return known


def _readers(graph: GraphIR) -> dict[str, set[str]]:
    """By node: who takes an output of it or waits for it."""
    readers: dict[str, set[str]] = {}
    for node in graph.nodes.values():
        for name in node.producers:
            readers.setdefault(name, set()).add(node.name)
    return readers
