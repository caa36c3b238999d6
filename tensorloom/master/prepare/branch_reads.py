"""Removes the outputs of branches and loops that a step does not read.

before: y, n = If(p, x, v; then: (x * 2, AssignAddVariableOp(v)));  _Retval(y)
after:  y = If(p, x; then: x * 2);  _Retval(y)

TensorFlow 1.15 builds the branches of `tf.cond` into the graph around them: what no
fetch depends on is pruned there, side effects included. The client marks the nodes
whose branches stand for such nodes (`READS_DECIDE`). So it is with nodes that it lowers
to Switch and Merge (`LOWERED`), loops among them: of these the variables stay that the
read ones, and the test, are made of.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tensorloom.framework.functions.called_functions import names_called
from tensorloom.framework.functions.functional_op_types import BRANCHES, IFS, LOOPS
from tensorloom.framework.graph.graph_ir import (
    LOWERED,
    READS_DECIDE,
    Edge,
    FunctionIR,
    GraphIR,
    Node,
)
from tensorloom.framework.types.attr_value import NameAttrList

_ALL: Final = -1  # the bits of all results


def has_prunable_branches(graph: GraphIR) -> bool:
    """Whether a step may read a part of a branch or a loop, also in functions."""
    bodies = [graph.nodes, *[f.nodes for f in graph.functions.values()]]
    return any(_has_mark(node) for b in bodies for node in b.values())


def _has_mark(node: Node) -> bool:
    return READS_DECIDE in node.attrs or bool(node.attrs.get(LOWERED))


def _function_attrs(node: Node) -> tuple[str, ...]:
    """The attrs that name what a functional node runs."""
    if node.op in LOOPS:
        return "cond", "body"
    return ("then_branch", "else_branch") if node.op in IFS else ("branches",)


def _called_by(node: Node) -> list[NameAttrList]:
    """What a functional node runs: branches, or the test and the body of a loop."""
    called: list[NameAttrList] = []
    for key in _function_attrs(node):
        value = node.attrs[key]
        called += value if isinstance(value, list) else [value]
    return called


def _first_argument(node: Node) -> int:
    """The first input that its functions get: not what chooses a branch."""
    return int(node.op in BRANCHES)


class BranchReads:
    """What is read of the marked nodes of a graph, found while it is walked.

    Sets of results and of arguments are bits of a number.
    """

    def __init__(self, functions: Mapping[str, FunctionIR]) -> None:
        self._functions = functions
        self._made: dict[str, FunctionIR] = {}
        # By function: for each result the arguments that it needs.
        self._needs: dict[str, list[int]] = {}

    def is_marked(self, node: Node) -> bool:
        """Whether the node's bodies are to compute only what is read of them."""
        if node.op not in BRANCHES | LOOPS or not _has_mark(node):
            return False
        count = len(node.inputs) - _first_argument(node)
        for called in _called_by(node):
            function = self._functions.get(called.name)
            is_test = node.op in LOOPS and called is node.attrs["cond"]
            if (
                function is None
                or function.problem is not None
                or len(function.arg_names) != count
                or len(function.returns) != (1 if is_test else len(node.output_types))
            ):
                return False  # who compiles it says what is wrong
        return True

    def needed_inputs(self, node: Node, read: int) -> Sequence[Edge]:
        """What chooses a branch, and the inputs that the read results need."""
        wanted, first = self._wanted(node, read), _first_argument(node)
        return [
            edge
            for i, edge in enumerate(node.inputs)
            if i < first or wanted >> (i - first) & 1
        ]

    def without_unread(
        self, nodes: Iterable[Node], read: Mapping[str, int]
    ) -> list[Node]:
        """The nodes, where the marked ones give only what is read.

        Args:
          read: by the name of a marked node, its results that are.
        """
        nodes = list(nodes)
        places: dict[str, list[int]] = {}  # of the read results
        for node in nodes:
            mask = read.get(node.name)
            if mask is not None:
                if node.op in LOOPS:
                    mask = self._wanted(node, mask)
                results = range(len(node.output_types))
                places[node.name] = [i for i in results if mask >> i & 1]
        if not places:
            return nodes
        return [self._renumbered(node, places) for node in nodes]

    def functions(self, nodes: Iterable[Node]) -> dict[str, FunctionIR]:
        """The library, also with what was made, its bodies without what is not read.

        Args:
          nodes: of the graph that calls the functions.
        """
        library = {**self._functions, **self._made}
        pending, seen = names_called(nodes, library), set[str]()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            function = library[name]
            if any(map(self.is_marked, function.nodes.values())):
                function = library[name] = self._narrowed(function)
                library.update(self._made)
            pending += names_called(function.nodes.values(), library)
        return library

    def _renumbered(self, node: Node, places: Mapping[str, list[int]]) -> Node:
        kept = places.get(node.name)
        if kept is not None:
            node = self._with_results(node, kept)
        if any(name in places for name, _ in node.inputs):
            inputs = tuple(
                (name, places[name].index(i) if name in places else i)
                for name, i in node.inputs
            )
            node = node.replace(inputs=inputs)
        return node

    def _with_results(self, node: Node, kept: list[int]) -> Node:
        """A marked node that gives some of its results, and takes what they need."""
        wanted = self._wanted(node, sum(1 << i for i in kept))
        first = _first_argument(node)
        arguments = [i for i in range(len(node.inputs) - first) if wanted >> i & 1]
        count = len(node.output_types) + len(node.inputs) - first
        if len(kept) + len(arguments) == count:
            return node
        attrs = dict(node.attrs)
        for key in _function_attrs(node):
            results = [0] if key == "cond" else kept
            value = attrs[key]
            if isinstance(value, list):
                attrs[key] = [self._made_part(v, results, arguments) for v in value]
            else:
                attrs[key] = self._made_part(value, results, arguments)
        for key, chosen in (
            ("T", kept),
            ("Tin", arguments),
            ("Tout", kept),
            ("output_shapes", kept),
        ):
            if attrs.get(key):
                attrs[key] = [attrs[key][i] for i in chosen]
        shapes = node.output_shapes
        return node.replace(
            inputs=(*node.inputs[:first], *[node.inputs[first + i] for i in arguments]),
            attrs=attrs,
            output_types=tuple(node.output_types[i] for i in kept),
            output_shapes=None if shapes is None else tuple(shapes[i] for i in kept),
        )

    def _made_part(
        self, called: NameAttrList, results: list[int], arguments: list[int]
    ) -> NameAttrList:
        function = self._functions[called.name]
        return NameAttrList(self._part_of(function, results, arguments), called.attrs)

    def _part_of(
        self, function: FunctionIR, results: list[int], arguments: list[int]
    ) -> str:
        """The name of the function with some of its results and arguments."""
        name = f"{function.name}_for_{sum(1 << i for i in results):x}"
        if len(arguments) < len(function.arg_names):
            name += f"_of_{sum(1 << i for i in arguments):x}"
        if name not in self._made:
            shapes = function.arg_shapes
            part = replace(
                function,
                name=name,
                arg_names=tuple(function.arg_names[i] for i in arguments),
                arg_types=tuple(function.arg_types[i] for i in arguments),
                arg_shapes=shapes and tuple(shapes[i] for i in arguments),
                output_names=tuple(function.output_names[i] for i in results),
                output_types=tuple(function.output_types[i] for i in results),
                returns=tuple(function.returns[i] for i in results),
            )
            self._made[name] = self._narrowed(part)
        return name

    def _narrowed(self, function: FunctionIR) -> FunctionIR:
        """A function with the nodes that its results need."""
        live, read = reach(
            function.nodes, function.control_returns, function.returns, (), self
        )
        body = [node for name, node in function.nodes.items() if name in live]
        ends = Node("", "", function.returns, (), "", {}, (), ())
        *body, ends = self.without_unread([*body, ends], read)
        return replace(
            function, nodes={node.name: node for node in body}, returns=ends.inputs
        )

    # --- what results need -----------------------------------------------------------

    def _wanted(self, node: Node, read: int) -> int:
        """The arguments that some results of a marked node need, in any branch.

        Of a loop, the variables: one needs what its next value is made of.
        """
        if node.op in LOOPS:
            test, body = (self._needs_of(called.name) for called in _called_by(node))
            wanted, before = read & ((1 << len(body)) - 1) | test[0], 0
            while wanted != before:
                before = wanted
                for i, mask in enumerate(body):
                    if wanted >> i & 1:
                        wanted |= mask
            return wanted
        wanted = 0
        for called in _called_by(node):
            for i, mask in enumerate(self._needs_of(called.name)):
                if read >> i & 1:
                    wanted |= mask
        return wanted

    def _needs_of(self, name: str) -> list[int]:
        if name not in self._needs:
            function = self._functions[name]
            # What calls itself needs all that it is given.
            self._needs[name] = [_ALL] * len(function.returns)
            self._needs[name] = self._walk(function)
        return self._needs[name]

    def _walk(self, function: FunctionIR) -> list[int]:
        masks: dict[str, list[int]] = {
            arg: [1 << i] for i, arg in enumerate(function.arg_names)
        }
        try:
            always = 0
            for node in function.nodes.values():
                masks[node.name] = self._masks_of(node, masks)
            for name in function.control_returns:
                always |= _union(masks[name])
            return [always | _result(masks[name], i) for name, i in function.returns]
        except KeyError:  # a loop of classic nodes
            return [_ALL] * len(function.returns)

    def _masks_of(self, node: Node, masks: Mapping[str, list[int]]) -> list[int]:
        """The arguments behind each result of a node; one where all are alike."""
        given = [_result(masks[name], i) for name, i in node.inputs]
        waits = 0
        for name in node.control_inputs:
            waits |= _union(masks[name])
        if not self.is_marked(node):
            return [_union(given) | waits]
        first = _first_argument(node)
        always = _union(given[:first]) | waits
        masks_of_results = []
        for result in range(len(node.output_types)):
            wanted = self._wanted(node, 1 << result)
            chosen = (m for i, m in enumerate(given[first:]) if wanted >> i & 1)
            masks_of_results.append(always | _union(chosen))
        return masks_of_results


def reach(
    nodes: Mapping[str, Node],
    roots: Iterable[str],
    results: Iterable[Edge],
    fed: Container[Edge],
    reads: BranchReads,
) -> tuple[set[str], dict[str, int]]:
    """(names of the nodes that must run, what is read of the marked ones).

    Args:
      roots: nodes that must run.
      results: tensors that are read.
      fed: tensors that need no node.

    Names that are no nodes, as those of a function's arguments, are among the first.
    """
    live, read = set[str](), dict[str, int]()
    stack = [(name, _ALL) for name in roots]
    stack += [(name, 1 << index) for name, index in results]
    while stack:
        name, bits = stack.pop()
        node = nodes.get(name)
        if node is not None and reads.is_marked(node):
            if bits | read.get(name, 0) == read.get(name):
                continue
            bits = read[name] = bits | read.get(name, 0)
            edges = reads.needed_inputs(node, bits)
        elif name in live:
            continue
        else:
            edges = () if node is None else node.inputs
        live.add(name)
        if node is not None:
            stack += [(edge[0], 1 << edge[1]) for edge in edges if edge not in fed]
            stack += [(other, _ALL) for other in node.control_inputs]
    return live, read


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _result(masks: Sequence[int], index: int) -> int:
    return masks[index] if len(masks) > 1 else masks[0]
