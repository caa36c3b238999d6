"""Statements that make values, and read variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.programs.tables import (
    CONVERSIONS,
    KINDS,
    MATRIX,
    REDUCE,
    SCALAR,
)

if TYPE_CHECKING:
    from tests.fuzz.programs.renderer import Renderer, Statement


def neutral(r: Renderer, n: Statement) -> None:
    """What changes nothing."""
    kind = r.any_kind(n[1])
    value = r.pick(kind, n[2])
    table = KINDS[kind].neutral
    name = r.new()
    with r.scope(r.controls(n[4]), n[5], value):
        r.write(f"{name} = {table[n[3] % len(table)].format(a=value.name)}")
    r.add(name, kind, [value], own=False)


def unary(r: Renderer, n: Statement) -> None:
    """A function of one value."""
    kind = r.any_kind(n[1])
    value = r.pick(kind, n[2])
    table = KINDS[kind].unary
    name = r.new()
    with r.scope(r.controls(n[4]), n[5], value):
        r.write(f"{name} = {table[n[3] % len(table)].format(a=value.name)}")
    r.add(name, kind, [value], own=False)


def binary(r: Renderer, n: Statement) -> None:
    """A function of two values."""
    kind = r.any_kind(n[5] // 14)
    a, b = r.pick(kind, n[1]), r.pick(kind, n[2])
    table = KINDS[kind].binary
    name = r.new()
    with r.scope(r.controls(n[4]), n[5], a, b):
        text = table[n[3] % len(table)].format(a=a.name, b=b.name)
        r.write(f"{name} = {text}")
    r.add(name, kind, [a, b], own=False)


def reduce(r: Renderer, n: Statement) -> None:
    """A scalar of a matrix."""
    value = r.pick(MATRIX, n[2])
    name = r.new()
    with r.scope(r.controls(n[4]), n[5], value):
        r.write(f"{name} = {REDUCE[n[3] % len(REDUCE)].format(a=value.name)}")
    r.add(name, SCALAR, [value], own=False)


def convert(r: Renderer, n: Statement) -> None:
    """A value of another dtype."""
    source, kind, text = CONVERSIONS[n[1] % len(CONVERSIONS)]
    value = r.pick(source, n[2])
    name = r.new()
    with r.scope(r.controls(n[4]), n[5], value):
        r.write(f"{name} = {text.format(a=value.name)}")
    r.add(name, kind, [value], own=False)


def read(r: Renderer, n: Statement) -> None:
    """A variable as a value, or as what shows it."""
    state = r.any_variable(n[1])
    kind = KINDS[state.kind]
    name = r.new("r")
    text = kind.own[n[3] % len(kind.own)].format(a=state.name)
    own = True
    if n[2] % 3 == 0:
        text = f"tf.identity({text})"
    elif n[2] % 3 == 1:
        text = kind.neutral[n[3] % len(kind.neutral)].format(a=state.name)
        own = state.is_resource
    with r.scope(r.controls(n[4], state.last), n[5], state):
        r.write(f"{name} = {text}")
    r.noted(name, state, own)


def draw(r: Renderer, n: Statement) -> None:
    """A random number: another one each time that the op runs."""
    name = r.new("u")
    text = (
        "tf.random.uniform([2, 3], seed={seed})",
        "tf.random.normal([2, 3], seed={seed})",
        "tf.random.uniform(tf.shape(y), -1., 1., seed={seed})",
    )[n[3] % 3]
    with r.scope(r.controls(n[4]), n[5]):
        r.write(f"{name} = {text.format(seed=n[2] % 3)}")
    r.add(name, MATRIX)


def group(r: Renderer, n: Statement) -> None:
    """What only waits."""
    names = [r.ops[i % len(r.ops)] for i in n[1:4]] if r.ops else []
    if not names:
        return
    name = r.new("g")
    with r.scope((), n[5]):
        r.write(f"{name} = tf.group({', '.join(names)})")
    r.ops.append(name)
    r.fetchable.append(name)


def pair(r: Renderer, n: Statement) -> None:
    """tf.tuple: all of its values wait for each other."""
    a, b = r.pick(MATRIX, n[1], owned=True), r.pick(MATRIX, n[2], owned=True)
    name = r.new("p")
    waits = [r.ops[n[3] % len(r.ops)]] if r.ops and n[4] % 2 else []
    with r.scope(r.controls(n[4]), n[5]):
        given = ", ".join(f"tf.identity({w})" for w in waits if w[0] not in "wegk")
        r.write(
            f"{name}, {name}_b = tf.tuple([{a.name}, {b.name}], "
            f"control_inputs=[{given}])"
        )
    r.add(name, MATRIX)
    r.add(f"{name}_b", MATRIX)
