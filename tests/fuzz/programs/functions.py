"""Statements that call functions, differentiate and train."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.programs.control_flow import differentiate
from tests.fuzz.programs.tables import KINDS, MATRIX

if TYPE_CHECKING:
    from tests.fuzz.programs.renderer import Renderer, Statement


def call(r: Renderer, n: Statement) -> None:
    """A tf.function or a Defun; with a resource variable it reads or changes it."""
    a, b = r.pick(MATRIX, n[1], owned=True), r.pick(MATRIX, n[2], owned=True)
    name = r.new("f")
    state = r.matrix_or_scalar(n[4]) if n[4] % 3 == 0 else None
    neutral, binary = KINDS[MATRIX].neutral, KINDS[MATRIX].binary
    is_defun = n[5] // 5 % 2 == 1
    own_gradient = is_defun and n[1] % 4 == 0
    if own_gradient:
        r.write(f"def {name}_grad(op, g): return g * {n[2] % 5}., g * op.inputs[0]")
    options = f", python_grad_func={name}_grad" if own_gradient else ""
    r.write(
        f"@Defun(tf.float32, tf.float32{options})"
        if is_defun
        else "@tf.function(autograph=False)"
    )
    with r.indented(f"def {name}_(a, b):"):
        if is_defun:
            r.write("a.set_shape([2, 3]); b.set_shape([2, 3])")
        inner = neutral[n[3] % len(neutral)].format(a="a")
        more = ""
        if state is not None:
            waits = "[]"
            if n[3] % 2:
                zeros = KINDS[state.kind].zeros
                r.write(f"wrote = {state.name}.assign_add({zeros} + tf.reduce_mean(a))")
                waits = "[wrote.op]"
            with r.indented(f"with tf.control_dependencies({waits}):"):
                r.write(f"read = tf.reduce_sum({state.name}.read_value())")
            more = " + read"
        r.write(f"return {binary[n[5] % len(binary)].format(a=inner, b='b')}{more}")
    with r.scope(r.controls(n[4], *(state.before if state else ())), n[5]):
        given = f"tf.reshape({a.name}, [2, 3]), tf.reshape({b.name}, [2, 3])"
        r.write(f"{name} = tf.reshape({name}_({given}), [2, 3])")
    if state is not None:
        r.changed(state, name, is_value=True)
    r.add(name, MATRIX)
    if state is None and n[3] % 3 == 0:
        differentiate(r, name, a.name, n)


def functional(r: Renderer, n: Statement) -> None:
    """If or While over functions."""
    a = r.pick(MATRIX, n[1], owned=True)
    predicate = r.predicate(n[4])
    neutral, unary = KINDS[MATRIX].neutral, KINDS[MATRIX].unary
    name = r.new("f")
    texts = (
        neutral[n[2] % len(neutral)].format(a="h"),
        unary[n[3] % len(unary)].format(a="h"),
    )
    if n[5] % 2:
        for which, text in zip(("yes", "no"), texts, strict=True):
            r.write("@Defun(tf.float32)")
            with r.indented(f"def {name}_{which}(h):"):
                r.write("h.set_shape([2, 3])")
                r.write(f"return {text}")
        body = f"functional_ops.If({predicate}, [{a.name}], {name}_yes, {name}_no)[0]"
    else:
        r.write("@Defun(tf.int32, tf.float32)")
        r.write(f"def {name}_test(i, h): return i < {n[2] % 4}")
        r.write("@Defun(tf.int32, tf.float32)")
        with r.indented(f"def {name}_step(i, h):"):
            r.write("h.set_shape([2, 3])")
            r.write(f"return i + 1, tf.tanh({texts[0]}) + .25")
        body = f"functional_ops.While([0, {a.name}], {name}_test, {name}_step)[1]"
    with r.scope(r.controls(n[4]), n[5]):
        r.write(f"{name} = tf.reshape({body}, [2, 3])")
    r.add(name, MATRIX)


def gradient(r: Renderer, n: Statement) -> None:
    """The gradient of a new value, which may be one of a gradient."""
    a, b = r.pick(MATRIX, n[1], owned=True), r.pick(MATRIX, n[2], owned=True)
    loss = r.new("o")
    neutral, binary = KINDS[MATRIX].neutral, KINDS[MATRIX].binary
    with r.scope(r.controls(n[4]), n[5]):
        inner = neutral[n[3] % len(neutral)].format(a=a.name)
        # TensorFlow differentiates no loop twice.
        other = f"tf.stop_gradient({b.name})"
        text = binary[n[4] % len(binary)].format(a=f"tf.tanh({inner})", b=other)
        r.write(f"{loss} = {text}")
    r.add(loss, MATRIX)
    differentiate(r, loss, a.name, n)


def train(r: Renderer, n: Statement) -> None:
    """A step of an optimizer over both matrices."""
    which = (0, 1) if n[1] % 3 else ((0,), (1,))[n[1] // 3 % 2]
    states = [r.variable(i) for i in which]
    a = r.pick(MATRIX, n[2], owned=True)
    name = r.new("w")
    optimizer = (
        *("GradientDescentOptimizer(.1)", "MomentumOptimizer(.1, .9)"),
        *("AdagradOptimizer(.1)", "AdamOptimizer(.1)", "RMSPropOptimizer(.1)"),
        "FtrlOptimizer(.1)",
    )[n[3] % 6]
    neutral = KINDS[MATRIX].neutral
    terms = [
        f"tf.tanh({neutral[n[3] % len(neutral)].format(a=st.name)})" for st in states
    ]
    before = [op for state in states for op in state.before]
    with r.scope(r.controls(n[4], *before), n[5], *states):
        r.write(
            f"{name}_loss = tf.reduce_mean(({' + '.join(terms)}) * "
            f"tf.stop_gradient({a.name}))"
        )
        names = ", ".join(state.name for state in states)
        r.write(f"{name}_o = tf.train.{optimizer}")
        r.write(f"{name}_g = {name}_o.compute_gradients({name}_loss, [{names}])")
        r.write(f"{name}_g = [(g, v) for g, v in {name}_g if g is not None]")
        waits = f"[{name}_loss] + [g for g, _ in {name}_g]"
        with r.indented(f"with tf.control_dependencies({waits}):"):
            r.write(
                f"{name} = {name}_o.apply_gradients({name}_g) if {name}_g "
                "else tf.no_op()"
            )
    for state in states:
        r.changed(state, name)
