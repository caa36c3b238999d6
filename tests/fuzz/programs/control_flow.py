"""Statements with branches and loops, effects in them, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.fuzz.programs.tables import INTS, KINDS, MATRIX, SCALAR

if TYPE_CHECKING:
    from tests.fuzz.programs.renderer import Renderer, State, Statement

_COUNTS = (
    *("tf.cast(tf.abs(s), tf.int32)", "tf.cast(tf.abs(s), tf.int32) + 1"),
    *("tf.constant(2)", "tf.constant(0)", "0", "3", "tf.shape(x)[1] - 1"),
    "tf.floormod(tf.reduce_sum({i}), 3)",
)


def _state(r: Renderer, number: int) -> State | None:
    """A resource variable of floats to be written inside, or none."""
    return r.matrix_or_scalar(number) if number % 4 == 1 else None


def _write_update(r: Renderer, state: State, value: str, number: int) -> None:
    """An update, and a read after it into `read`."""
    kind = KINDS[state.kind]
    if state.kind == SCALAR:
        value = f"tf.reduce_mean({value})"
    given = (value, f"{value} + 0.", f"{kind.zeros} + {value}")[number % 3]
    r.write(f"wrote = {state.name}.assign_add({given}).op")
    with r.indented("with tf.control_dependencies([wrote]):"):
        r.write(f"read = tf.reduce_sum({state.name}.read_value())")


def _branch(
    r: Renderer, name: str, kind: str, texts: Sequence[str], state: State | None
) -> None:
    """A function without arguments."""
    with r.indented(f"def {name}():"):
        r.write(f"value = {texts[0]}")
        if state is not None:
            _write_update(r, state, texts[1], len(texts[1]))
            r.write("value = value + read")
        r.write("return value")


def _expression(r: Renderer, kind: str, value: str, number: int) -> str:
    table = (KINDS[kind].neutral, KINDS[kind].unary)[number % 2]
    return table[number // 2 % len(table)].format(a=value)


def branch(r: Renderer, n: Statement) -> None:
    """tf.cond; at times with an update in a branch, or with a cond in it."""
    state = _state(r, n[1])
    kind = MATRIX if state else r.any_kind(n[1], "MMIMDBT")
    a, b = r.pick(kind, n[2], owned=True), r.pick(kind, n[3], owned=True)
    predicate = r.predicate(n[4])
    inner = r.predicate(n[4] // 11) if n[5] % 5 == 0 else None
    name = r.new("c")
    yes = [_expression(r, kind, a.name, n[3]), a.name]
    no = [_expression(r, kind, b.name, n[2]), b.name]
    _branch(r, f"{name}_yes", kind, yes, state)
    _branch(r, f"{name}_no", kind, no, None)
    if inner is not None:
        with r.indented(f"def {name}_outer():"):
            r.write(f"return tf.cond({inner}, {name}_yes, lambda: {a.name} [::-1])")
    with r.scope(r.controls(n[4], *(state.before if state else ())), n[5]):
        first = f"{name}_yes" if inner is None else f"{name}_outer"
        r.write(f"{name} = tf.cond({predicate}, {first}, {name}_no)")
        r.write(f"{name} = tf.reshape({name}, [2, 3])")
    if state is not None:
        r.changed(state, name, is_value=True)
    r.add(name, kind)


def results(r: Renderer, n: Statement) -> None:
    """tf.cond with two results, of which the other may be read by nobody."""
    state = _state(r, n[1])
    a, b = r.pick(MATRIX, n[2], owned=True), r.pick(MATRIX, n[3], owned=True)
    predicate = r.predicate(n[4])
    name = r.new("c")
    for which, (one, two) in (("yes", (a, b)), ("no", (b, a))):
        with r.indented(f"def {name}_{which}():"):
            r.write(f"first = {_expression(r, MATRIX, one.name, n[3])}")
            r.write(f"second = {_expression(r, MATRIX, two.name, n[5])}")
            if state is not None and which == "yes":
                _write_update(r, state, "first", n[3])
                r.write("first = first + read")
            r.write("return first, second")
    with r.scope(r.controls(n[4], *(state.before if state else ())), n[5]):
        r.write(f"{name}, {name}_b = tf.cond({predicate}, {name}_yes, {name}_no)")
    if state is not None:
        r.changed(state, name, is_value=True)
    r.add(name, MATRIX)
    # Of an update the first result decides: who reads the other does not ask for it.
    r.add(f"{name}_b", MATRIX)


def case(r: Renderer, n: Statement) -> None:
    """tf.case or tf.switch_case."""
    kind = r.any_kind(n[1], "MMIMD")
    a, b = r.pick(kind, n[2], owned=True), r.pick(kind, n[3], owned=True)
    first, second = r.predicate(n[4]), r.predicate(n[4] // 11)
    name = r.new("c")
    texts = [
        _expression(r, kind, one.name, number)
        for one, number in ((a, n[3]), (b, n[2]), (a, n[5]))
    ]
    one, two, three = (f"lambda: {text}" for text in texts)
    with r.scope(r.controls(n[4]), n[5]):
        if n[1] % 3:
            r.write(
                f"{name} = tf.case([({first}, {one}), ({second}, {two})], "
                f"default={three})"
            )
        else:
            index = f"tf.cast({first}, tf.int32) + tf.cast({second}, tf.int32)"
            r.write(f"{name} = tf.switch_case({index}, [{one}, {two}, {three}])")
        r.write(f"{name} = tf.reshape({name}, [2, 3])")
    r.add(name, kind)


def primitives(r: Renderer, n: Statement) -> None:
    """Switch and Merge by hand; at times with an update between them."""
    state = _state(r, n[1])
    kind = MATRIX if state else r.any_kind(n[1], "MMIMDBT")
    a, b = r.pick(kind, n[2], owned=True), r.pick(kind, n[3], owned=True)
    predicate = r.predicate(n[4])
    name = r.new("c")
    with r.scope(r.controls(n[4], *(state.before if state else ())), n[5]):
        r.write(f"{name}_p = {predicate}")
        r.write(f"{name}_s = tf.raw_ops.Switch(data={a.name}, pred={name}_p)")
        r.write(f"{name}_o = tf.raw_ops.Switch(data={b.name}, pred={name}_p)")
        yes = _expression(r, kind, f"{name}_s[1]", n[3])
        no = _expression(r, kind, f"{name}_{'so'[n[5] % 2]}[0]", n[2])
        if state is not None:
            with r.indented(f"with tf.control_dependencies([{name}_s[1]]):"):
                _write_update(r, state, f"{name}_o[1]", n[3])
            yes = f"{yes} + read"
        # The one kept in a variable's memory must not be merged.
        r.write(f"{name} = tf.raw_ops.Merge(inputs=[{no}, {yes}])[0]")
        r.write(f"{name} = tf.reshape({name}, [2, 3])")
    if state is not None:
        r.changed(state, name, is_value=True)
    r.add(name, kind)


def _count(r: Renderer, number: int) -> str:
    text = _COUNTS[number % len(_COUNTS)]
    if "{i}" in text:
        text = text.format(i=r.pick(INTS, number, owned=True).name)
    return text


def loop(r: Renderer, n: Statement) -> None:
    """tf.while_loop; at times with an update in its body, or with its gradient."""
    a, b = r.pick(MATRIX, n[2], owned=True), r.pick(MATRIX, n[3], owned=True)
    state = r.matrix_or_scalar(n[1]) if n[1] % 3 == 0 else None
    name = r.new("l")
    count = _count(r, n[4] // 3)
    inside = r.predicate(n[1] // 3) if n[5] % 7 == 0 else None
    with r.indented(f"def {name}_body(i, h, unread):"):
        if state is not None:
            _write_update(r, state, ("h", "tf.zeros([2, 3])")[n[3] % 2], n[3])
            r.write("h = h + read * .1")
        inner = _expression(r, MATRIX, "h", n[3])
        other = b.name if n[2] % 5 == 0 else f"tf.stop_gradient({b.name})"
        r.write(f"h = tf.tanh({inner}) + {other} * .5")
        if inside is not None:
            r.write(f"h = tf.cond({inside}, lambda: h * .5, lambda: tf.sin(h))")
        r.write("return i + 1, h, unread + tf.reduce_sum(h)")
    with r.scope(r.controls(n[4], *(state.before if state else ())), n[5]):
        r.write(f"{name}_n = {count}")
        r.write(
            f"{name}_all = tf.while_loop(lambda i, h, u: i < {name}_n, {name}_body, "
            f"[0, tf.reshape({a.name}, [2, 3]), 0.])"
        )
        r.write(f"{name} = tf.tanh({name}_all[1])")
    if state is not None:
        r.changed(state, name, is_value=True)
    r.add(name, MATRIX)
    if n[1] % 5 == 0:
        r.write(f"{name}_u = tf.fill([2, 3], tf.tanh({name}_all[2]))")
        if state is None:
            r.add(f"{name}_u", MATRIX)
    if state is None and n[5] % 2:
        differentiate(r, name, a.name, n)


def differentiate(r: Renderer, value: str, by: str, n: Statement) -> None:
    """The gradient of a value, at times under control dependencies."""
    grad = r.new("d")
    with r.scope(r.controls(n[4]) if n[2] % 4 == 0 else (), n[5]):
        r.write(f"{grad} = tf.gradients({value}, {by})[0]")
        r.write(f"if {grad} is None: {grad} = tf.zeros([2, 3])")
    r.add(grad, MATRIX)


def array(r: Renderer, n: Statement) -> None:
    """A TensorArray, written one by one or in a loop; at times differentiated."""
    a, b = r.pick(MATRIX, n[2], owned=True), r.pick(MATRIX, n[3], owned=True)
    name = r.new("a")
    count = _count(r, n[4] // 3)
    out = (
        *("tf.reduce_sum({ta}.stack(), 0)", "{ta}.gather([2, 0])[0]", "{ta}.read(1)"),
        "{ta}.concat()[1:3]",
    )[n[1] % 4]
    with r.scope(r.controls(n[4]), n[5]):
        r.write(
            f"{name}_t = tf.TensorArray(tf.float32, 3, element_shape=[2, 3], "
            f"clear_after_read={n[5] % 2 == 0})"
        )
        if n[1] % 3 == 0:
            r.write(
                f"{name}_t = {name}_t.unstack(tf.stack([{a.name}, {b.name}] + [y]))"
            )
        else:
            first = _expression(r, MATRIX, a.name, n[3])
            r.write(f"{name}_t = {name}_t.write(0, {first}).write(1, {b.name})")
            r.write(f"{name}_t = {name}_t.write(2, {a.name} * .5)")
        if n[1] % 2:
            text = out.format(ta=f"{name}_t")
        else:
            text = f"tf.reshape({name}_l[2], [2, 3])"
            inner = _expression(r, MATRIX, "h", n[3])
            with r.indented(f"def {name}_body(i, t, h):"):
                r.write(f"h = tf.tanh({inner}) + {name}_t.read(i) * .5")
                r.write("return i + 1, t.write(i, h), h")
            r.write(
                f"{name}_n = tf.minimum({count}, 3)\n"
                + "  " * r._depth
                + f"{name}_l = tf.while_loop(lambda i, t, h: i < {name}_n, {name}_body,"
                f" [0, tf.TensorArray(tf.float32, 3, element_shape=[2, 3]), "
                f"tf.reshape({a.name}, [2, 3])])"
            )
        r.write(f"{name} = tf.reshape({text}, [2, 3])")
    r.add(name, MATRIX)
    if n[5] % 3 == 0:
        differentiate(r, name, a.name, n)


def mapped(r: Renderer, n: Statement) -> None:
    """tf.map_fn, tf.scan, tf.foldl: loops over the rows."""
    a = r.pick(MATRIX, n[2], owned=True)
    name = r.new("m")
    inner = ("tf.tanh(row) + 0.", "row * 2. - row", "tf.identity(row) * .5")[n[3] % 3]
    # TensorFlow's TensorArrays are where the value is that is written first.
    rows = f"tf.identity({a.name})"
    text = (
        f"tf.map_fn(lambda row: {inner}, {rows})",
        f"tf.scan(lambda sum, row: sum * .5 + {inner}, {rows})",
        f"tf.stack([tf.foldl(lambda sum, row: sum - {inner}, {rows})] * 2)",
        f"tf.foldr(lambda sum, row: sum + {inner}, {rows}, tf.zeros([3])) + y",
    )[n[1] % 4]
    with r.scope(r.controls(n[4]), n[5]):
        r.write(f"{name} = tf.reshape({text}, [2, 3])")
    r.add(name, MATRIX)
    if n[5] % 3 == 0:
        differentiate(r, name, a.name, n)
