"""The verifier catches passes that were broken on purpose.

Each row breaks one thing in a pass or in what passes stand on, and has a graph in which
that matters. Unbroken, the pass is let through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf  # registers the ops
from tensorloom.cluster import local
from tensorloom.framework import errors
from tensorloom.master.optimize import PIPELINE, OptimizeTarget, rewriting
from tensorloom.master.optimize.fusion import optimizer_updates
from tensorloom.master.optimize.redirection import Redirection
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify import (
    arithmetic,
    constant_folding,
    dead_nodes,
    dependency,
)
from tensorloom.master.verify.verifier import Verifier
from tests.master.graph_text import parse

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node

_ = tf
PASSES = dict(PIPELINE)

Break = Callable[[pytest.MonkeyPatch], None]


def _drop_what_is_owed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rewriting, "owed", lambda self, old, inputs: ())


def _take_references_for_values(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rewriting, "shows_variable", lambda *edge, **options: False)


def _forget_waits_for_merged_nodes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Redirection, "replace_control", _replace_control_by_nothing)


def _replace_control_by_nothing(
    self: Redirection, old: str, new: tuple[str, ...]
) -> None:
    self._controls[old] = ()


def _forget_waits_inside(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rewriting, "fused", lambda self, node, new, inside=(): new)


def _read_later(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rewriting, "reads_in_time", lambda *arguments: True)


def _bypass_without_waits(patch: pytest.MonkeyPatch) -> None:
    real = Rewriting.bypass
    patch.setattr(
        Rewriting,
        "bypass",
        lambda self, node: real(self, node.replace(control_inputs=())),
    )


def _groups_of_nothing(patch: pytest.MonkeyPatch) -> None:
    real = dependency.as_group
    patch.setattr(
        dependency, "as_group", lambda node: real(node).replace(control_inputs=())
    )


def _flatten_to_nothing(patch: pytest.MonkeyPatch) -> None:
    real = dependency._with_fewer_waits
    patch.setattr(
        dependency,
        "_with_fewer_waits",
        lambda node, members: real(node, dict.fromkeys(members, ())),
    )


def _cast_to_anything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rewriting, "replace", _replace_anyhow)
    patch.setitem(arithmetic._RULES, "Cast", lambda view, node: (node.inputs[0], ()))


def _replace_anyhow(self: Rewriting, node: Node, edge: Any, inside: Any = ()) -> bool:
    self.redirect(node, [edge])
    return True


def _slices_are_whole(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(arithmetic._RULES, "Slice", lambda view, node: (node.inputs[0], ()))


def _control_inputs_keep_nothing_alive(patch: pytest.MonkeyPatch) -> None:
    real = dead_nodes.remove_dead_nodes

    def remove(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
        blind = [n.replace(control_inputs=()) for n in graph.nodes.values()]
        return real(graph.with_nodes(blind), target)

    patch.setitem(PASSES, "dead_nodes", remove)


def _fold_without_waiting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(constant_folding._Folder, "_controls", lambda self, node: ())


def _one_update_for_all(patch: pytest.MonkeyPatch) -> None:
    real = optimizer_updates._fused_node
    patch.setattr(optimizer_updates, "_fused_node", lambda members: real(members[-1:]))


def _updates_where_the_first_stood(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(optimizer_updates, "_independent", lambda graph, members: members)


def _last_first(patch: pytest.MonkeyPatch) -> None:
    real = PASSES["arithmetic"]
    patch.setitem(
        PASSES,
        "arithmetic",
        lambda graph, target: graph.with_nodes(
            reversed(real(graph, target).nodes.values())
        ),
    )


def _wait_for_the_reader(patch: pytest.MonkeyPatch) -> None:
    def tie(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
        nodes = dict(graph.nodes)
        nodes["n"] = nodes["n"].replace(control_inputs=("e",))
        return graph.with_nodes(nodes.values())

    patch.setitem(PASSES, "arithmetic", tie)


def _fetches_may_go(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(
        PASSES,
        "dead_nodes",
        lambda graph, target: graph.with_nodes(
            n for n in graph.nodes.values() if n.name != "e"
        ),
    )


_HEAD = """
fed = _Arg<float32[2,3]> @/device:CPU:0
x = Sin(fed)
v = VariableV2 {dtype='float32'}
u = VariableV2 {dtype='float32'}
zero = Const<0.0>
"""


@dataclass(frozen=True)
class Mutation:
    """A way to break a pass, and the rule that must not let it through."""

    breaks: Break
    run: str
    rule: str
    graph: str


MUTATIONS = [
    Mutation(
        _drop_what_is_owed,
        "arithmetic",
        "order",
        """
        w = Assign(v, x)
        z = Const<0.0>(^w)
        a = AddV2(x, z)
        b = Assign(u, a)
        t = NoOp(^b)
        """,
    ),
    Mutation(
        _take_references_for_values,
        "arithmetic",
        "references",
        """
        i = Identity(v)
        a = AddV2(i, zero)
        w = Assign(v, x, ^a)
        e = Exp(a, ^w)
        r = _Retval(e)
        """,
    ),
    Mutation(
        _forget_waits_for_merged_nodes,
        "common_subexpression",
        "order",
        """
        w = Assign(v, x)
        y = Exp(x, ^w)
        a = Neg(y)
        b = Neg(y)
        f = Assign(u, x, ^b)
        r = _Retval(a)
        t = NoOp(^f)
        """,
    ),
    Mutation(
        _forget_waits_inside,
        "fuse_matmul_bias",
        "order",
        """
        w = Assign(v, x)
        k = _Arg<float32[3,2]> @/device:CPU:0
        c = _Arg<float32[2]> @/device:CPU:0
        m = MatMul(x, k, ^w)
        a = BiasAdd(m, c)
        f = Assign(u, a)
        t = NoOp(^f)
        """,
    ),
    Mutation(
        _read_later,
        "arithmetic",
        "references",
        """
        i = Identity(v)
        s = Const<[6]>
        k = Const<[3, 2]>
        a = Reshape(i, s)
        w = Assign(v, x, ^a)
        b = Reshape(a, k, ^w)
        r = _Retval(b)
        """,
    ),
    Mutation(
        _bypass_without_waits,
        "dependency",
        "order",
        """
        w = Assign(v, x)
        i = Identity(x, ^w)
        f = Assign(u, i)
        t = NoOp(^f)
        """,
    ),
    Mutation(
        _groups_of_nothing,
        "dependency",
        "order",
        """
        w = Assign(v, x)
        y = Exp(x, ^w)
        n = Neg(y)
        f = Assign(u, x, ^n)
        t = NoOp(^f)
        """,
    ),
    Mutation(
        _flatten_to_nothing,
        "dependency",
        "order",
        """
        w = Assign(v, x)
        g = NoOp(^w)
        f = Assign(u, x, ^g)
        t = NoOp(^f, ^w)
        """,
    ),
    Mutation(
        _cast_to_anything,
        "arithmetic",
        "types",
        """
        a = Cast(x) {DstT='float64'}
        e = Exp(a)
        r = _Retval(e)
        """,
    ),
    Mutation(
        _slices_are_whole,
        "arithmetic",
        "types",
        """
        b = Const<[0, 0]>
        s = Const<[1, 3]>
        a = Slice(x, b, s)
        r = _Retval(a)
        """,
    ),
    Mutation(
        _control_inputs_keep_nothing_alive,
        "dead_nodes",
        "effects",
        """
        w = Assign(v, x)
        e = Exp(x, ^w)
        r = _Retval(e)
        """,
    ),
    Mutation(
        _fold_without_waiting,
        "constant_folding",
        "order",
        """
        w = Assign(v, x)
        y = Exp(x, ^w)
        s = Shape(y)
        f = Assign(u, x, ^s)
        t = NoOp(^f)
        """,
    ),
    Mutation(
        _one_update_for_all,
        "fuse_optimizer_updates",
        "effects",
        """
        k = ApplyGradientDescent(v, zero, x)
        l = ApplyGradientDescent(u, zero, x)
        t = NoOp(^k, ^l)
        """,
    ),
    Mutation(
        _updates_where_the_first_stood,
        "fuse_optimizer_updates",
        "cycles",
        """
        k = ApplyGradientDescent(v, zero, x)
        y = Exp(x, ^k)
        l = ApplyGradientDescent(u, zero, y)
        t = NoOp(^k, ^l)
        """,
    ),
    Mutation(
        _last_first,
        "arithmetic",
        "topological order",
        """
        e = Exp(x)
        r = _Retval(e)
        """,
    ),
    Mutation(
        _wait_for_the_reader,
        "arithmetic",
        "cycles",
        """
        n = Neg(x)
        e = Exp(n)
        r = _Retval(e)
        """,
    ),
    Mutation(
        _fetches_may_go,
        "dead_nodes",
        "fetches",
        """
        keep: e
        e = Exp(x)
        """,
    ),
]


def _verify(mutation: Mutation) -> None:
    lines = [line.strip() for line in mutation.graph.strip().splitlines()]
    preserve = {"t"}
    if lines[0].startswith("keep: "):
        preserve.add(lines.pop(0).removeprefix("keep: "))
    graph = parse(_HEAD.strip() + "\n" + "\n".join(lines))
    preserve &= graph.nodes.keys()
    target = OptimizeTarget(frozenset(preserve), evaluate=local.evaluate)
    after = PASSES[mutation.run](graph, target)
    Verifier(preserve).check(mutation.run, graph, after)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.breaks.__name__)
def test_a_broken_pass_is_caught(
    mutation: Mutation, monkeypatch: pytest.MonkeyPatch
) -> None:
    _verify(mutation)
    mutation.breaks(monkeypatch)
    told = f"Graph pass '{mutation.run}' broke the rule of {mutation.rule}: "
    with pytest.raises(errors.InternalError) as caught:
        _verify(mutation)
    assert caught.value.message.startswith(told)
