"""The verifier catches passes between functions that were broken on purpose.

Pruning, what makes functions of classic control flow, what makes that of functions, and
loop variables that stay: each row breaks one, and has a program in which that matters.
Unbroken, the program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.framework import errors
from tensorloom.master import functionalize
from tensorloom.master.functionalize import conds, loops
from tensorloom.master.lower import lower_branches, lower_functional
from tensorloom.master.optimize.simplify import dead_loop_variables
from tensorloom.master.prepare import branch_reads, prune

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node

Break = Callable[[pytest.MonkeyPatch], None]


def _without_waits(node: Node) -> Node:
    return node.replace(control_inputs=())


def _with_functions(
    graph: GraphIR, change: Callable[[FunctionIR], FunctionIR]
) -> GraphIR:
    functions = {name: change(f) for name, f in graph.functions.items()}
    return replace(graph, functions=functions)


# --- pruning --------------------------------------------------------------------------


def _prune_past_waits(patch: pytest.MonkeyPatch) -> None:
    real = prune._reach
    patch.setattr(
        prune,
        "_reach",
        lambda nodes, roots, feeds: real(
            {name: _without_waits(node) for name, node in nodes.items()}, roots, feeds
        ),
    )


def _feed_the_first_to_all(patch: pytest.MonkeyPatch) -> None:
    real = prune._connect_feeds
    patch.setattr(
        prune,
        "_connect_feeds",
        lambda body, nodes, feeds: real(
            body, nodes, dict.fromkeys(feeds, next(iter(feeds.values())))
        ),
    )


def _wait_for_nothing_near_feeds(patch: pytest.MonkeyPatch) -> None:
    real = prune._connect_feeds
    patch.setattr(
        prune,
        "_connect_feeds",
        lambda body, nodes, feeds: [
            _without_waits(node) for node in real(body, nodes, feeds)
        ],
    )


def _branches_without_waits(patch: pytest.MonkeyPatch) -> None:
    real = branch_reads.BranchReads._part_of

    def part(self: Any, function: FunctionIR, *kept: Any) -> str:
        nodes = {n: _without_waits(node) for n, node in function.nodes.items()}
        return real(self, replace(function, nodes=nodes), *kept)

    patch.setattr(branch_reads.BranchReads, "_part_of", part)


def _results_keep_their_numbers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        branch_reads.BranchReads,
        "_renumbered",
        lambda self, node, places: (
            self._with_results(node, places[node.name])
            if node.name in places
            else node.replace(
                inputs=tuple((n, 0 if n in places else i) for n, i in node.inputs)
            )
        ),
    )


# --- functions of classic control flow ------------------------------------------------


def _other_branch(patch: pytest.MonkeyPatch) -> None:
    real = functionalize.functionalize_conds

    def swapped(graph: GraphIR, prefix: str = "") -> GraphIR:
        made = real(graph, prefix)
        nodes = []
        for node in made.nodes.values():
            if node.op in ("If", "StatelessIf"):
                yes, no = node.attrs["then_branch"], node.attrs["else_branch"]
                attrs = {**node.attrs, "then_branch": no, "else_branch": yes}
                node = node.replace(attrs=attrs)
            nodes.append(node)
        return made.with_nodes(nodes)

    patch.setattr(functionalize, "functionalize_conds", swapped)


def _wait_for_no_branch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(conds._Rewriter, "_stays", lambda self, name: [])


def _branches_that_wait_for_nothing(patch: pytest.MonkeyPatch) -> None:
    real = conds._Rewriter._collect

    def collect(self: Any, *arguments: Any) -> dict[str, Node]:
        return {n: _without_waits(v) for n, v in real(self, *arguments).items()}

    patch.setattr(conds._Rewriter, "_collect", collect)


def _bodies_that_wait_for_nothing(patch: pytest.MonkeyPatch) -> None:
    real = loops._Body.collect

    def collect(self: Any, roots: Any) -> None:
        real(self, roots)
        for name, node in self.nodes.items():
            self.nodes[name] = _without_waits(node)

    patch.setattr(loops._Body, "collect", collect)


def _next_values_in_another_order(patch: pytest.MonkeyPatch) -> None:
    real = loops._function

    def function(name: str, args: Any, types: Any, results: Any, nodes: Any) -> Any:
        if len(results) > 2:
            results = [results[0], results[2], results[1], *results[3:]]
        return real(name, args, types, results, nodes)

    patch.setattr(loops, "_function", function)


# --- classic control flow of functions ------------------------------------------------


def _run_in_any_case(patch: pytest.MonkeyPatch) -> None:
    real = lower_functional.Lowering.inline

    def inline(
        self: Any, owner: Any, function: Any, given: Any, prefix: str, *rest: Any
    ) -> Any:
        given = [self.nodes[name].inputs[0] for name, _ in given]
        return real(self, owner, function, given, prefix, None)

    patch.setattr(lower_functional.Lowering, "inline", inline)


def _forget_effects(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lower_functional, "_is_stateful", lambda node, functions: False)


def _merge_in_another_order(patch: pytest.MonkeyPatch) -> None:
    real = lower_branches._merge_branches
    patch.setattr(
        lower_branches,
        "_merge_branches",
        lambda lowering, node, results, ends: real(
            lowering, node, [list(reversed(branch)) for branch in results], ends
        ),
    )


# --- loop variables -------------------------------------------------------------------


def _nothing_is_needed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dead_loop_variables, "_closure", lambda read, facts: read | facts[0])


# --- programs -------------------------------------------------------------------------


def _waits() -> Any:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder_with_default(2.0, [])
    with tf.control_dependencies([v.assign_add(x).op]):
        return tf.identity(x * 2.0), {x: 3.0}


def _feeds() -> Any:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    return x - y, {x: 3.0, y: 4.0}


def _orders() -> Any:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([v.assign_add(x).op]):
        return v.assign(x * 2.0).op, {x: 3.0}


def _made_branch() -> Any:
    """Three results of a branch, of which two wait for its update."""
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])

    def write() -> Any:
        with tf.control_dependencies([v.assign_add(x).op]):
            return tf.sin(x), v.read_value() + x, x * 3.0

    made = tf.cond(x > 0.0, write, lambda: (tf.cos(x), x - 1.0, x * 4.0))
    with tf.control_dependencies([made[1]]):
        after = v.assign(x * 5.0)
    with tf.control_dependencies([after.op]):
        return made[1] - made[2], {x: 3.0}


def _branch() -> Any:
    tf.disable_control_flow_v2()
    return _made_branch()


def _functional_branch() -> Any:
    tf.enable_control_flow_v2()
    return _made_branch()


def _switch() -> Any:
    """Something waits for a Switch itself."""
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([v.assign_add(x).op]):
        given = tf.identity(x)
    no, yes = tf.raw_ops.Switch(data=given, pred=x > 0.0)
    ended = tf.raw_ops.Merge(inputs=[no - 1.0, yes + 1.0])[0]
    with tf.control_dependencies([no]):
        after = v.assign(x * 5.0)
    return [ended, after.op], {x: 3.0}


def _loop() -> Any:
    tf.disable_control_flow_v2()
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])

    def step(i: Any, a: Any, b: Any) -> Any:
        with tf.control_dependencies([v.assign_add(a).op]):
            second = v.assign(b).op
        with tf.control_dependencies([second]):
            return i + 1, a * v.read_value(), b + a

    made = tf.while_loop(lambda i, a, b: i < 3, step, [0, x, x * 2.0])
    return made[1] + made[2], {x: 3.0}


def _unread() -> Any:
    x = tf.placeholder(tf.float32, [])
    made = tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a + b, b * 2.0), [0, x, x * 2.0]
    )
    return made[1], {x: 3.0}


def _waiting_branch() -> Any:
    """A branch that lets go what one of its inputs waits for: it is lowered."""
    tf.enable_control_flow_v2()
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])
    taken = queue.dequeue()

    def put() -> Any:
        with tf.control_dependencies([queue.enqueue(x), v.assign_add(x).op]):
            return taken + 1.0, x + 2.0

    made = tf.cond(x > 0.0, put, lambda: (x - 1.0, x - 2.0))
    with tf.control_dependencies([made[1].op]):
        after = v.assign_add(2.0)
    with tf.control_dependencies([after.op]):
        return made[0] * 3.0, {x: 3.0}


def _waiting_call() -> Any:
    """The same for a function, whose effects no result waits for."""
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])
    taken = queue.dequeue()

    @Defun(tf.float32, tf.float32)
    def put(given: Any, other: Any) -> Any:
        queue.enqueue(other)
        v.assign_add(other)
        return given + 1.0

    made = put(taken, x)
    with tf.control_dependencies([made.op]):
        after = v.assign_add(2.0)
    return [made, after.op], {x: 3.0}


@dataclass(frozen=True)
class Mutation:
    """A way to break a pass, the rule that must not let it through, and a program."""

    breaks: Break
    run: str
    rule: str
    program: Callable[[], Any]


MUTATIONS = [
    Mutation(_prune_past_waits, "prune", "inputs", _waits),
    Mutation(_feed_the_first_to_all, "prune", "values", _feeds),
    Mutation(_wait_for_nothing_near_feeds, "prune", "order", _orders),
    Mutation(_branches_without_waits, "prune", "effects", _functional_branch),
    Mutation(_results_keep_their_numbers, "prune", "values", _functional_branch),
    Mutation(_other_branch, "functionalize", "conditions", _branch),
    Mutation(_wait_for_no_branch, "functionalize", "order", _switch),
    Mutation(_branches_that_wait_for_nothing, "functionalize", "order", _branch),
    Mutation(_bodies_that_wait_for_nothing, "functionalize", "order", _loop),
    Mutation(_next_values_in_another_order, "functionalize", "values", _loop),
    Mutation(_run_in_any_case, "lower_functional", "conditions", _waiting_branch),
    Mutation(_forget_effects, "lower_functional", "order", _waiting_call),
    Mutation(_merge_in_another_order, "lower_functional", "values", _waiting_branch),
    Mutation(_nothing_is_needed, "dead_loop_variables", "values", _unread),
]


def _run(program: Callable[[], Any]) -> None:
    with tf.Graph().as_default():
        fetch, feeds = program()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(fetch, feeds)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.breaks.__name__)
def test_a_broken_pass_is_caught(
    mutation: Mutation, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(mutation.program)
    mutation.breaks(monkeypatch)
    told = f"Graph pass '{mutation.run}' broke the rule of {mutation.rule}: "
    with pytest.raises(errors.InternalError) as caught:
        _run(mutation.program)
    assert caught.value.message.startswith(told)
