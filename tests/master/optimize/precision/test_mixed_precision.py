"""Products in float16: which nodes, where casts are; training on a pretended GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.devices import device as device_kinds
from tensorloom.framework.interfaces import DeviceInfo
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.precision.fast_devices import fast_in_half
from tensorloom.master.optimize.precision.mixed_precision import use_half_precision
from tensorloom.master.verify.verifier import Verifier
from tests.gpu import pretended
from tests.master.graph_text import check, parse, render

_HALF, _SINGLE = "CastToFp16-AutoMixedPrecision", "CastToFp32-AutoMixedPrecision"
_CASES = {
    "what is between products": (
        """
        x = _Arg<float32[2,3]>
        w = _Arg<float32[3,3]>
        a = MatMul(x, w)
        b = Tanh(a)
        c = MatMul(b, w)
        r = _Retval(c)
        """,
        f"""
        x = _Arg<float32[2,3]>
        w = _Arg<float32[3,3]>
        x-0-{_HALF} = Cast(x)
        w-0-{_HALF} = Cast(w)
        a = MatMul(x-0-{_HALF}, w-0-{_HALF})
        b = Tanh(a)
        c = MatMul(b, w-0-{_HALF})
        c-0-{_SINGLE} = Cast(c)
        r = _Retval(c-0-{_SINGLE})
        """,
    ),
    "inferred ops at the ends stay, clear ones go with their neighbours": (
        """
        x = _Arg<float32[2,3]>
        w = _Arg<float32[3,3]>
        y = Neg(x)
        a = MatMul(y, w)
        b = Relu(a)
        c = Tanh(b)
        r = _Retval(c)
        """,
        f"""
        x = _Arg<float32[2,3]>
        w = _Arg<float32[3,3]>
        x-0-{_HALF} = Cast(x)
        y = Neg(x-0-{_HALF})
        w-0-{_HALF} = Cast(w)
        a = MatMul(y, w-0-{_HALF})
        b = Relu(a)
        b-0-{_SINGLE} = Cast(b)
        c = Tanh(b-0-{_SINGLE})
        r = _Retval(c)
        """,
    ),
    "what comes of a denied op stays, up to the next product": (
        """
        x = _Arg<float32[3,3]>
        a = MatMul(x, x)
        b = Exp(a)
        c = Neg(b)
        d = Add(c, b)
        e = MatMul(d, d)
        r = _Retval(e)
        """,
        f"""
        x = _Arg<float32[3,3]>
        x-0-{_HALF} = Cast(x)
        a = MatMul(x-0-{_HALF}, x-0-{_HALF})
        a-0-{_SINGLE} = Cast(a)
        b = Exp(a-0-{_SINGLE})
        c = Neg(b)
        d = Add(c, b)
        d-0-{_HALF} = Cast(d)
        e = MatMul(d-0-{_HALF}, d-0-{_HALF})
        e-0-{_SINGLE} = Cast(e)
        r = _Retval(e-0-{_SINGLE})
        """,
    ),
    "nodes on CPUs, of other dtypes, and without products": (
        """
        x = _Arg<float32[3,3]>
        i = _Arg<int32[3,3]>
        a = MatMul(x, x) @/device:CPU:0
        b = MatMul(i, i)
        c = Tanh(x)
        r = _Retval(a)
        s = _Retval(b)
        t = _Retval(c)
        """,
        None,
    ),
}


def _on_gpus(node: Any) -> bool:
    return "CPU" not in node.device


def _lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.parametrize("case", _CASES)
def test_before_and_after(case: str) -> None:
    before, after = _CASES[case]
    graph = parse(_lines(before))
    target = OptimizeTarget(is_fast_in_half=_on_gpus)
    result = use_half_precision(graph, target)
    assert render(result) == (render(graph) if after is None else _lines(after))
    if after is None:
        assert result is graph
    else:
        check(result)


def test_a_fetched_product_stays() -> None:
    graph = parse("x = _Arg<float32[3,3]>\na = MatMul(x, x)\nr = _Retval(a)")
    target = OptimizeTarget(frozenset(["a"]), is_fast_in_half=_on_gpus)
    assert use_half_precision(graph, target) is graph


def test_the_verifier_misses_a_cast() -> None:
    graph = parse("x = _Arg<float32[3,3]>\na = MatMul(x, x)\nr = _Retval(a)")
    result = use_half_precision(graph, OptimizeTarget(is_fast_in_half=_on_gpus))
    Verifier().check("whole", graph, result)
    uncast = result.nodes["a"].replace(inputs=(("x", 0), ("x", 0)))
    broken = result.with_nodes({**result.nodes, "a": uncast}.values())
    with pytest.raises(tf.errors.InternalError, match="wants float16 as input 0"):
        Verifier().check("broken", graph, broken)


@pytest.mark.parametrize(
    ("kind", "description", "fast"),
    [
        ("GPU", "name: H200, compute capability: 9.0", True),
        ("GPU", "name: P100, compute capability: 6.1", False),
        ("GPU", "", False),
        ("CPU", "compute capability: 9.0", False),
    ],
)
def test_gpus_that_are_fast(kind: str, description: str, fast: bool) -> None:
    info = DeviceInfo(f"/job:a/replica:0/task:0/device:{kind}:0", kind, 1, 1)
    info = type(info)(info.name, kind, 1, 1, description)
    tells = fast_in_half([info], lambda node, kind: True)
    assert (tells is not None) == fast


def _network(resource: bool) -> tuple[Any, Any, Any]:
    """A loss, a step that lowers it, and what the step changes."""
    random = np.random.RandomState(1)
    x = tf.constant(random.rand(8, 6).astype(np.float32))
    start = random.rand(6, 5).astype(np.float32) - 0.5
    w = tf.get_variable("w", initializer=start, use_resource=resource)
    v = tf.get_variable("v", initializer=start.T.copy(), use_resource=resource)
    hidden = tf.nn.relu(tf.matmul(x, w) + 0.1)
    logits = tf.matmul(hidden, v)
    labels = tf.constant(random.randint(0, 6, 8))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    loss = tf.reduce_mean(losses)
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(
        optimizer, loss_scale=128.0
    )
    return loss, optimizer.minimize(loss), w


def _trained(resource: bool) -> tuple[list[Any], Any, set[str]]:
    """The losses, a weight, and the ops that have float16."""
    with tf.Graph().as_default():
        try:
            loss, step, w = _network(resource)
            options = tf.RunOptions(output_partition_graphs=True)
            metadata = tf.RunMetadata()
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                losses = []
                for _ in range(5):
                    losses.append(session.run(loss))
                    session.run(step, options=options, run_metadata=metadata)
                weight = session.run(w)
        finally:
            tf.train.experimental.disable_mixed_precision_graph_rewrite()
    half = {
        node.op
        for graph in metadata.partition_graphs
        for node in graph.node
        if any(node.attr[a].type == 19 for a in ("T", "DstT") if a in node.attr)
    }
    return losses, weight, half


@pytest.mark.slow
@pytest.mark.parametrize("resource", [False, True])
def test_training_on_a_pretended_gpu(
    resource: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, weight, none = _trained(resource)
    assert not none, "a CPU does as it did"

    def make_gpus(*arguments: Any) -> Any:
        made = pretended.make_gpus(*arguments)
        for gpu in made:
            gpu.physical_description = "compute capability: 7.5"
        return made

    with pretended.pretended_gpus():
        monkeypatch.setitem(device_kinds._KINDS, "GPU", make_gpus)
        losses, rounded, half = _trained(resource)
    assert "Cast" in half
    assert half & {"MatMul", "_FusedMatMul", "_MatMulTransposed"}
    np.testing.assert_allclose(losses, expected, rtol=5e-3)
    np.testing.assert_allclose(rounded, weight, atol=5e-3)
    assert not np.array_equal(rounded, weight)
