"""Compares a graph before and after a pass.

Each rule is a function over what is known of both graphs; a broken one names the pass,
itself and the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.graph.node_shapes import fitting_shapes
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, STANDS_FOR
from tensorloom.master.verify.graph_facts import BitNumbers, GraphFacts, facts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node


class Verifier:
    """Checks the passes over one graph, one after the other."""

    def __init__(self, preserve: Collection[str] = ()) -> None:
        """Makes a verifier.

        Args:
          preserve: the nodes that every pass must keep.
        """
        self._preserve = preserve
        self._bits = BitNumbers()
        self._known: tuple[GraphIR, GraphFacts] | None = None  # of the last graph

    def check(self, run_pass: str, before: GraphIR, after: GraphIR) -> None:
        """Compares two graphs.

        Raises:
          errors.InternalError: the pass broke a rule; the message names it, the rule
            and the nodes.
        """
        if _are_same(before, after):
            return
        problem = next(_broken_edges(after), None)
        if problem is None:
            comparison = _Comparison(
                self._facts(before), facts_of(after, self._bits), self._bits
            )
            self._known = after, comparison.after
            problem = next(comparison.problems(self._preserve), None)
        if problem is not None:
            raise errors.InternalError(
                None, None, f"Graph pass '{run_pass}' broke the rule of {problem}."
            )

    def _facts(self, graph: GraphIR) -> GraphFacts:
        if self._known is not None and self._known[0] is graph:
            return self._known[1]
        return facts_of(graph, self._bits)


def _are_same(before: GraphIR, after: GraphIR) -> bool:
    if before is after or before.nodes is after.nodes:
        return True
    if len(before.nodes) != len(after.nodes):
        return False
    pairs = zip(before.nodes.values(), after.nodes.values(), strict=True)
    return all(old is new for old, new in pairs)


def _broken_edges(graph: GraphIR) -> Iterator[str]:
    """Inputs exist, and come first: there is no cycle."""
    if any(node.op in CONTROL_FLOW for node in graph.nodes.values()):
        return
    seen: dict[str, Node] = {}
    for name, node in graph.nodes.items():
        if name != node.name:
            yield f"names: node '{node.name}' is kept as '{name}'"
        for producer, index in node.inputs:
            source = seen.get(producer)
            if source is None:
                yield _early(graph, node, producer)
            elif index >= len(source.output_types):
                yield (
                    f"inputs: node '{name}' takes output {index} of '{producer}' "
                    f"({source.op}), which has {len(source.output_types)}"
                )
        for producer in node.control_inputs:
            if producer not in seen:
                yield _early(graph, node, producer)
        seen[name] = node


def _early(graph: GraphIR, node: Node, producer: str) -> str:
    if producer not in graph.nodes:
        return f"inputs: node '{node.name}' needs '{producer}', which is gone"
    stack, seen = [producer], {producer}
    while stack:
        current = graph.nodes.get(stack.pop())
        for name in current.producers if current is not None else ():
            if name == node.name:
                return f"cycles: '{node.name}' and '{producer}' wait for each other"
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return (
        f"topological order: node '{node.name}' stands before '{producer}', "
        "which it needs"
    )


@dataclass(slots=True, eq=False)
class _Comparison:
    """Both graphs of one pass."""

    before: GraphFacts
    after: GraphFacts
    bits: BitNumbers

    def problems(self, preserve: Collection[str]) -> Iterator[str]:
        """The broken rules."""
        yield from self._kept(preserve)
        needed = _needed(self.before.nodes, preserve)
        replaced = {}
        for name, states in self.before.effects.items():
            if name in self.after.effects or name not in needed:
                continue
            new = self._in_place_of(name, states)
            if new is None:
                yield f"effects: node '{name}' ({self._op(name)}) is gone"
                return
            replaced[name] = new
        yield from self._orders(replaced, _needed(self.after.nodes, preserve))
        yield from self._references()
        yield from self._types()

    def _op(self, name: str) -> str:
        return self.before.nodes[name].op

    # --- what stays --------------------------------------------------------------

    def _kept(self, preserve: Collection[str]) -> Iterator[str]:
        for name in preserve:
            if name in self.before.nodes and name not in self.after.nodes:
                yield f"fetches: node '{name}' must stay, and is gone"
        for name, node in self.before.nodes.items():
            if node.op == "_Retval" and name not in self.after.nodes:
                yield f"fetches: result '{name}' is gone"

    def _in_place_of(self, name: str, states: frozenset[Edge]) -> str | None:
        """A new effect that says it is the old one, or is on all that that worked on.

        Two updates of one variable may both be in others: one whose op tells the old
        one's comes first.
        """
        for new in self.after.effects:
            if name.encode() in self.after.nodes[new].attrs.get(STANDS_FOR, ()):
                return new
        if not states:
            return None
        found = None
        for new, others in self.after.effects.items():
            if states <= others and self._is_changed(new):
                if self.after.nodes[new].op.endswith(self._op(name)):
                    return new
                found = found or new
        return found

    def _is_changed(self, name: str) -> bool:
        old, new = self.before.nodes.get(name), self.after.nodes[name]
        return old is None or old.op != new.op or old.inputs != new.inputs

    # --- order -------------------------------------------------------------------

    def _orders(self, replaced: dict[str, str], needed: set[str]) -> Iterator[str]:
        """What was ordered is: two effects, or an effect and a read.

        Args:
          needed: after the pass. A read that is not will be removed.
        """
        before, after, bits = self.before, self.after, self.bits
        present = 0
        for name in (*before.effects, *before.reads):
            if name in after.effects or (name in after.reads and name in needed):
                present |= bits.bit(name)
        moved = {bits.bit(old): bits.bit(new) for old, new in replaced.items()}
        for name in dict.fromkeys((*before.effects, *before.reads)):
            place = replaced.get(name, name)
            if place not in after.effects and place not in after.reads:
                continue
            wanted = before.before[name] & ~bits.bit(name)
            if name not in before.effects:
                wanted &= before.effect_bits
            extra = 0
            for old, new in moved.items():
                if wanted & old:
                    extra |= new
            missing = ((wanted & present) | extra) & ~after.before[place]
            if missing:
                first = bits.names(missing)[0]
                yield (
                    f"order: '{name}' ({self._op(name)}) came after "
                    f"'{first}', and no longer does"
                )

    # --- references --------------------------------------------------------------

    def _references(self) -> Iterator[str]:
        """What was a value is no reference, unless it is read as it was before."""
        for name, variables in self.after.reads.items():
            old = self.before.nodes.get(name)
            new = self.after.nodes[name]
            known = self.before.reads.get(name, frozenset())
            for variable in variables:
                is_same_read = variable in known and not (
                    old is not None and self._gained(old, new, variable)
                )
                if is_same_read or self._has_replacement(name, variable):
                    continue
                yield (
                    f"references: '{name}' ({new.op}) reads '{variable[0]}' itself now,"
                    " where it took a value, or at another moment than it was read"
                )

    def _gained(self, old: Node, new: Node, variable: Edge) -> bool:
        """Whether an input that was a value shows the variable now."""
        if old.op != new.op or len(old.inputs) != len(new.inputs):
            return True
        pairs = zip(old.inputs, new.inputs, strict=True)
        return any(
            self.after.shown.get(now) == variable
            and self.before.shown.get(then) != variable
            for then, now in pairs
        )

    def _has_replacement(self, name: str, variable: Edge) -> bool:
        """Whether a read before lies between the same writes as a read after does."""
        bit, after = self.bits.bit(name), self.after
        writers = [n for n, states in after.effects.items() if variable in states]
        mine = after.before[name]
        for reader, variables in self.before.reads.items():
            if variable not in variables or (
                reader == name and not self._changed_form(name)
            ):
                continue
            its, own = self.before.before[reader], self.bits.bit(reader)
            for writer in writers:
                if writer == name or writer not in self.before.before:
                    continue
                writes = self.bits.bit(writer)
                if its & writes and not mine & writes:
                    break
                if self.before.before[writer] & own and not after.before[writer] & bit:
                    break
            else:
                return True
        return False

    def _changed_form(self, name: str) -> bool:
        """Whether a node has another op, or takes in what others took."""
        old, new = self.before.nodes.get(name), self.after.nodes[name]
        return old is None or old.op != new.op or len(old.inputs) != len(new.inputs)

    # --- types -------------------------------------------------------------------

    def _types(self) -> Iterator[str]:
        """Dtypes and known shapes of what is taken, and given, agree."""
        before, after = self.before.nodes, self.after.nodes
        for name, new in after.items():
            old = before.get(name)
            if old is new:
                continue
            problem = None
            if old is not None and _is_narrowed(old, new):
                problem = _other_inputs(new, after)
            elif old is not None and not self._changed_form(name):
                problem = different_inputs(old, new, before, after)
                problem = problem or _different_outputs(old, new)
            if problem is None and (old is None or _misfit(old, before) is None):
                problem = _misfit(new, after)
            if problem is not None:
                yield f"types: node '{name}' ({new.op}) {problem}"


def _needed(nodes: Mapping[str, Node], preserve: Collection[str]) -> set[str]:
    """The nodes that the results, and what must stay, stand on."""
    found = {name for name in preserve if name in nodes}
    found.update(n.name for n in nodes.values() if n.op == "_Retval")
    for name in reversed([*nodes]):
        if name in found:
            found.update(nodes[name].producers)
    return found


def _is_narrowed(old: Node, new: Node) -> bool:
    """Whether a node computes in float16 now, as its attrs say, what was float32."""

    def half(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [half(one) for one in value]
        return dtypes.float16 if value is dtypes.float32 else value

    was, became = old.attrs, new.attrs
    changed = [key for key in became if became[key] is not was.get(key)]
    return bool(changed) and all(
        key in was and half(became[key]) == half(was[key]) and _has_half(became[key])
        for key in changed
    )


def _has_half(value: Any) -> bool:
    values = value if isinstance(value, list | tuple) else [value]
    return any(one is dtypes.float16 for one in values)


def _other_inputs(node: Node, nodes: Mapping[str, Node]) -> str | None:
    """Which input is of another dtype than the attrs of a node say."""
    op_def = op_registry.find(node.op)
    assert op_def is not None  # a function has no attrs that could change
    wanted = op_def.input_types(node.attrs)
    for index, (name, output) in enumerate(node.inputs):
        found = nodes[name].output_types[output].base_dtype
        if found != wanted[index].base_dtype:
            return (
                f"wants {wanted[index].name} as input {index}, and takes {found.name}"
            )
    return None


def different_inputs(
    old: Node, new: Node, before: Mapping[str, Node], after: Mapping[str, Node]
) -> str | None:
    """What a node takes that is of another dtype or shape than it was."""
    if len(old.inputs) != len(new.inputs):
        return None
    pairs = zip(old.inputs, new.inputs, strict=True)
    for index, (then, now) in enumerate(pairs):
        was = before[then[0]].output_types[then[1]].base_dtype
        became = after[now[0]].output_types[now[1]].base_dtype
        if was != became:
            return f"took {was.name} as input {index}, and takes {became.name}"
        if new.op == "_Retval":
            shapes = before[then[0]].output_shapes, after[now[0]].output_shapes
            if shapes[0] is None or shapes[1] is None:
                continue
            first, second = shapes[0][then[1]], shapes[1][now[1]]
            if not first.is_compatible_with(second):
                return f"took the shape {first}, and takes {second}"
    return None


def _different_outputs(old: Node, new: Node) -> str | None:
    if old.output_types != new.output_types:
        return f"gave {old.output_types}, and gives {new.output_types}"
    if old.output_shapes is None or new.output_shapes is None:
        return None
    pairs = zip(old.output_shapes, new.output_shapes, strict=True)
    for was, became in pairs:
        if not was.is_compatible_with(became):
            return f"gave the shape {was}, and gives {became}"
    return None


def _misfit(node: Node, nodes: Mapping[str, Node]) -> str | None:
    """What is wrong between a node's inputs and the shapes that it says it gives."""
    if node.output_shapes is None or not node.inputs or len([*names_of(node)]) > 1:
        return None
    inferred = fitting_shapes(node, nodes, {})
    if inferred is None:
        return "does not fit the shapes of its inputs"
    for says, gives in zip(node.output_shapes, inferred, strict=True):
        if not says.is_compatible_with(gives):
            return f"says that it gives the shape {says}, and gives {gives}"
    return None
