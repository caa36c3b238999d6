"""Pruning as a table, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf  # registers the ops
from tensorloom.framework.errors import OpError
from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.interfaces import StepSignature
from tensorloom.master.prepare.prune import parse_tensor_name, prune
from tests.master.graph_text import check, parse, render

_ = tf

GRAPH = """
x = Placeholder {dtype='float32'}
y = Sin(x)
z = Exp(y)
w = Cos(x, ^z)
p = Placeholder {dtype='float32'}
n = NoOp(^p, ^w)
k = Const<[1.0, 2.0]>
u = Unpack(k) {num=2}
s = Add(u:0, u:1)
"""

CASES = [
    (
        StepSignature(("x:0",), ("y:0",)),
        """
        _arg_x_0_0 = _Arg<float32[]> @CPU
        y = Sin(_arg_x_0_0)
        _retval_y_0_0 = _Retval(y) @CPU
        """,
    ),
    (
        StepSignature((), (), ("n",)),
        """
        x = Placeholder
        y = Sin(x)
        z = Exp(y)
        w = Cos(x, ^z)
        p = Placeholder
        n = NoOp(^p, ^w)
        """,
    ),
    (
        # A fed placeholder does not run: nobody waits for it.
        StepSignature(("p:0", "x:0"), (), ("n",)),
        """
        _arg_p_0_0 = _Arg<float32[]> @CPU
        _arg_x_0_1 = _Arg<float32[]> @CPU
        y = Sin(_arg_x_0_1)
        z = Exp(y)
        w = Cos(_arg_x_0_1, ^z)
        n = NoOp(^w)
        """,
    ),
    (
        # Another fed node runs where it is waited for.
        StepSignature(("z:0", "x:0"), ("w:0",)),
        """
        _arg_z_0_0 = _Arg<float32[]> @CPU
        _arg_x_0_1 = _Arg<float32[]> @CPU
        y = Sin(_arg_x_0_1)
        z = Exp(y)
        w = Cos(_arg_x_0_1, ^z)
        _retval_w_0_0 = _Retval(w) @CPU
        """,
    ),
    (
        # One output of a node is fed, the other computed.
        StepSignature(("u:0",), ("s:0", "k:0")),
        """
        _arg_u_0_0 = _Arg<float32[]> @CPU
        k = Const<[1.0, 2.0]>
        u = Unpack(k)
        s = Add(_arg_u_0_0, u:1)
        _retval_s_0_0 = _Retval(s) @CPU
        _retval_k_0_1 = _Retval(k) @CPU
        """,
    ),
    (
        # A feed that nothing needs is taken all the same.
        StepSignature(("p:0",), ("k:0",)),
        """
        _arg_p_0_0 = _Arg<float32[]> @CPU
        k = Const<[1.0, 2.0]>
        _retval_k_0_0 = _Retval(k) @CPU
        """,
    ),
]


def lines(text: str) -> list[str]:
    return [line.strip().replace("[]", "") for line in text.strip().splitlines()]


@pytest.mark.parametrize(("signature", "expected"), CASES, ids=lambda c: str(c)[:60])
def test_pruned(signature: StepSignature, expected: str) -> None:
    graph = parse(GRAPH)
    before = render(graph)
    pruned = prune(graph, signature, "CPU")
    assert lines(render(pruned)) == lines(expected)
    assert render(graph) == before
    check(pruned)


REFUSED = [
    ((), ("no:0",), (), 5, "FetchOutputs node no:0: not found"),
    ((), ("y:3",), (), 3, "FetchOutputs y:3: output index too large, must be < 1"),
    ((), (), ("no", "n", "na"), 5, "Some target nodes not found: no na "),
    (("no:0",), ("y:0",), (), 5, "FeedInputs: unable to find feed output no:0"),
    (("x:1",), ("y:0",), (), 3, "FeedInputs: x:1 should have output index < 1"),
    (("x:0",), ("x:0",), (), 3, "x:0 is both fed and fetched."),
    (("x:0", "x"), ("y:0",), (), 3, 'Endpoint "x" fed more than once.'),
    ((), ("y:0", "y"), (), 3, 'Endpoint "y" fetched more than once.'),
    (("x:0",), (), (), 3, "Must specify at least one target to fetch or execute."),
]


@pytest.mark.parametrize(("feeds", "fetches", "targets", "code", "message"), REFUSED)
def test_refused(
    feeds: tuple[str, ...],
    fetches: tuple[str, ...],
    targets: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    with pytest.raises(OpError) as info:
        prune(parse(GRAPH), StepSignature(feeds, fetches, targets), "CPU")
    assert info.value.error_code == code
    assert message in info.value.message


def test_an_input_that_does_not_exist() -> None:
    graph = parse(GRAPH)
    broken = GraphIR({n: graph.nodes[n] for n in ("y", "z")})
    with pytest.raises(OpError, match="Node 'y': Unknown input node 'x'"):
        prune(broken, StepSignature((), ("z:0",)), "CPU")


def test_tensor_names() -> None:
    assert parse_tensor_name("a") == ("a", 0)
    assert parse_tensor_name("scope/a:2") == ("scope/a", 2)


@given(
    sizes=st.lists(st.lists(st.integers(0, 30), max_size=3), min_size=1, max_size=30),
    fetched=st.integers(0, 29),
    fed=st.sets(st.integers(0, 29), max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_only_what_is_needed(
    sizes: list[list[int]], fetched: int, fed: set[int]
) -> None:
    """The live nodes are those on a path to the fetch that no feed cuts."""
    text = [f"n0 = Const<{0.0}>"]
    inputs: list[list[int]] = [[]]
    for number, wanted in enumerate(sizes, start=1):
        parents = sorted({p % number for p in wanted})
        inputs.append(parents)
        names = ", ".join(f"n{p}" for p in parents)
        text.append(
            f"n{number} = AddN({names})" if parents else f"n{number} = Const<1.0>"
        )
    fetched %= len(inputs)
    fed = {f for f in fed if f < len(inputs) and f != fetched}
    expected, stack = {fetched}, [fetched]
    while stack:
        for parent in inputs[stack.pop()]:
            if parent not in fed and parent not in expected:
                expected.add(parent)
                stack.append(parent)
    signature = StepSignature(tuple(f"n{f}:0" for f in sorted(fed)), (f"n{fetched}:0",))
    pruned = prune(parse("\n".join(text)), signature, "CPU")
    live = {n for n in pruned.nodes if not n.startswith("_")}
    assert live == {f"n{e}" for e in expected}
    check(pruned)


def test_a_fed_variable_cannot_be_written() -> None:
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], name="v")
        for update in (
            v.initializer,
            tf.assign_add(v, v),
            tf.scatter_add(v, [0], [1.0]),
        ):
            with (
                tf.Session() as sess,
                pytest.raises(tf.errors.InvalidArgumentError, match="float_ref"),
            ):
                sess.run(update, {v: [5.0, 6.0]})
