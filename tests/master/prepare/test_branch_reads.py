"""Of marked Ifs a pruned graph has what is read, of other ones everything."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.framework.graph.graph_ir import LOWERED, READS_DECIDE, GraphIR
from tensorloom.framework.interfaces import StepSignature
from tensorloom.master.prepare import prune


def _pruned(fetch: tf.Tensor, marked: bool = True) -> GraphIR:
    graph = fetch.graph.to_ir()
    marks = () if marked else (READS_DECIDE, LOWERED)
    nodes = [
        node.replace(attrs={k: v for k, v in node.attrs.items() if k not in marks})
        for node in graph.nodes.values()
    ]
    return prune.prune(
        graph.with_nodes(nodes), StepSignature((), (fetch.name,), ()), ""
    )


def _two_results() -> tuple[tf.Tensor, tf.Tensor]:
    p = tf.placeholder_with_default(True, [], name="p")
    a, b = (tf.placeholder_with_default(1.0, [], name=n) for n in "ab")
    unread = tf.exp(b, name="unread")
    y, z = tf.cond(p, lambda: (a + 1.0, unread * 2.0), lambda: (a, b), name="if")
    return y, z


@pytest.mark.parametrize(
    ("which", "marked", "inputs", "results"),
    [
        (0, True, ["p", "a"], 1),
        (1, True, ["p", "b", "unread"], 1),
        (0, False, ["p", "a", "b", "unread"], 2),
    ],
)
def test_inputs_and_results(
    which: int, marked: bool, inputs: list[str], results: int
) -> None:
    pruned = _pruned(_two_results()[which], marked)
    node = pruned.nodes["if/if" if "if/if" in pruned.nodes else "if"]
    assert sorted(name for name, _ in node.inputs) == sorted(inputs)
    assert len(node.output_types) == len(node.attrs["Tout"]) == results
    assert len(node.attrs["Tin"]) == len(inputs) - 1
    assert ("unread" in pruned.nodes) == ("unread" in inputs)
    for key in ("then_branch", "else_branch"):
        function = pruned.functions[node.attrs[key].name]
        assert len(function.arg_names) == len(inputs) - 1
        assert len(function.returns) == results


def test_the_functions_of_other_steps_stay() -> None:
    y, _ = _two_results()
    graph = y.graph.to_ir()
    known = dict(graph.functions)
    pruned = prune.prune(graph, StepSignature((), (y.name,), ()), "")
    assert graph.functions == known
    assert known.items() <= pruned.functions.items()
