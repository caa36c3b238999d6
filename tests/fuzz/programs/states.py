"""Statements that change variables, queues, tables and the log."""

from __future__ import annotations

from tests.fuzz.programs.renderer import Renderer, State, Statement, Value
from tests.fuzz.programs.tables import INTS, KINDS, MATRIX, Kind


def _given(kind: Kind, value: str, number: int) -> str:
    """A value, or what is equal to it."""
    if kind.dtype in ("tf.bool", "tf.string"):
        return (value, kind.neutral[0].format(a=value))[number % 2]
    return (
        value,
        f"{kind.zeros} + {value}",
        f"{value} * tf.ones({kind.shape}, {kind.dtype})",
        f"tf.identity({value} + {kind.zero})",
    )[number % 4]


def update(r: Renderer, n: Statement) -> None:
    """A write of a variable."""
    state = r.any_variable(n[1])
    kind = KINDS[state.kind]
    value = r.pick(state.kind, n[2])
    name = r.new("w")
    with r.scope(r.controls(n[4], *state.before), n[5], value):
        given = _given(kind, _kept(r, value, state), n[3] // 3)
        how = kind.updates[n[3] % len(kind.updates)]
        r.write(f"{name} = {state.name}.{how}({given}).op")
    r.reads(value, name, but=state)
    r.changed(state, name)


def _kept(r: Renderer, value: Value, state: State) -> str:
    return r.to_keep(value) if state.is_resource else value.name


def written_value(r: Renderer, n: Statement) -> None:
    """What a write gives: the reference, or what is read after it."""
    state = r.any_variable(n[1])
    kind = KINDS[state.kind]
    value = r.pick(state.kind, n[2])
    name = r.new("k")
    with r.scope(r.controls(n[4], *state.before), n[5], value):
        given = _given(kind, _kept(r, value, state), n[3] // 3)
        how = kind.updates[n[3] % len(kind.updates)]
        text = f"{state.name}.{how}({given})"
        r.write(f"{name} = {f'tf.identity({text})' if state.is_resource else text}")
    r.reads(value, name, but=state)
    r.changed(state, name, is_value=True)
    r.noted(name, state, own=state.is_resource)


def scatter(r: Renderer, n: Statement) -> None:
    """A write of one row of a matrix."""
    state = r.variable((0, 1, 4, 5)[n[1] % 4])
    value = r.pick(state.kind, n[2])
    name = r.new("w")
    how = ("scatter_update", "scatter_add", "scatter_sub")[n[3] % 3]
    with r.scope(r.controls(n[4], *state.before), n[5], value):
        rows = f"{value.name}[{n[3] // 3 % 2}:{n[3] // 3 % 2 + 1}]"
        r.write(f"{name} = tf.{how}({state.name}, [{n[3] // 7 % 2}], {rows})")
        r.write(f"{name} = getattr({name}, 'op', {name})")
    r.reads(value, name, but=state)
    r.changed(state, name)


def swap(r: Renderer, n: Statement) -> None:
    """a, b = b, a"""
    pairs = ((0, 1), (2, 3), (4, 5), (6, 7))
    first, second = map(r.variable, pairs[n[1] % 4])
    if n[2] % 2:
        first, second = second, first
    kind = KINDS[first.kind]
    old, one, two = r.new("r"), r.new("w"), r.new("w")
    text = kind.neutral[n[3] % 3].format(a=first.name)
    given = second.name if not first.is_resource else f"{second.name} + {kind.zero}"
    both = [*first.before, *second.before]
    with r.scope(r.controls(n[4], *both), n[5], first, second):
        r.write(f"{old} = tf.identity({text})")
        with r.indented(f"with tf.control_dependencies([{old}]):"):
            r.write(f"{one} = {first.name}.assign({given}).op")
        with r.indented(f"with tf.control_dependencies([{one}]):"):
            r.write(f"{two} = {second.name}.assign({old}).op")
    r.changed(first, one)
    r.changed(second, two)
    first.reads.append(two)
    r.values.append(Value(old, first.kind))
    r.fetchable.append(old)


def _queue(r: Renderer) -> State:
    return r.other(
        "q",
        "with tf.device(D[0]): q = tf.FIFOQueue("
        "256, [tf.float32, tf.int32], shapes=[[2, 3], [2, 3]])",
    )


def enqueue(r: Renderer, n: Statement) -> None:
    """One element into the queue, or two."""
    queue = _queue(r)
    a, b = r.pick(MATRIX, n[2]), r.pick(INTS, n[3])
    name = r.new("e")
    many = n[1] % 3 == 0
    with r.scope(r.controls(n[4], *queue.before), n[5], a, b):
        first, second = r.to_keep(a), r.to_keep(b)
        if many:
            first, second = f"tf.stack([{first}] * 2)", f"tf.stack([{second}] * 2)"
        how = "enqueue_many" if many else "enqueue"
        with r.indented("with tf.device(D[0]):"):
            r.write(f"{name} = q.{how}([{first}, {second}])")
    r.reads(a, name)
    r.reads(b, name)
    r.changed(queue, name)
    r.queued += 2 if many else 1


def dequeue(r: Renderer, n: Statement) -> None:
    """One element out of the queue, or two."""
    if not r.queued:
        enqueue(r, n)
    queue = _queue(r)
    name = r.new("d")
    many = r.queued >= 2 and n[1] % 3 == 0
    with r.scope(r.controls(n[4], *queue.before), n[5]):
        with r.indented("with tf.device(D[0]):"):
            r.write(f"{name}, {name}_i = q.dequeue{'_many(2)' if many else '()'}")
        if many:
            r.write(f"{name}, {name}_i = {name}[0] + {name}[1], {name}_i[1]")
    r.changed(queue, name, is_value=True)
    r.queued -= 2 if many else 1
    r.add(name, MATRIX)
    if n[2] % 2:
        r.add(f"{name}_i", INTS)


def size(r: Renderer, n: Statement) -> None:
    """How much is in the queue or the table."""
    name = r.new("z")
    state, text = (
        (_queue(r), "q.size()"),
        (_table(r), "tf.cast(tf.raw_ops.LookupTableSizeV2(table_handle=h), tf.int32)"),
    )[n[1] % 2]
    with r.scope(r.controls(n[4], state.last), n[5]):
        r.write(f"{name} = tf.fill([2, 3], {text})")
    state.reads.append(name)
    r.add(name, INTS)


def _table(r: Renderer) -> State:
    return r.other(
        "h",
        "with tf.device(D[0]): h = tf.raw_ops.MutableHashTableV2("
        "key_dtype=tf.int64, value_dtype=tf.float32)",
    )


def insert(r: Renderer, n: Statement) -> None:
    """Numbers into a table."""
    table = _table(r)
    keys, values = r.pick(INTS, n[2]), r.pick(MATRIX, n[3])
    name = r.new("e")
    with r.scope(r.controls(n[4], *table.before), n[5], keys, values):
        r.write(f"keys = tf.cast({keys.name}, tf.int64) + tf.zeros([2, 3], tf.int64)")
        with r.indented("with tf.device(D[0]):"):
            r.write(
                f"{name} = tf.raw_ops.LookupTableInsertV2(table_handle=h, "
                f"keys=keys, values={r.to_keep(values)})"
            )
    r.reads(keys, name)
    r.reads(values, name)
    r.changed(table, name)


def find(r: Renderer, n: Statement) -> None:
    """Numbers out of a table."""
    table = _table(r)
    keys = r.pick(INTS, n[2])
    name = r.new()
    with r.scope(r.controls(n[4], table.last), n[5], keys):
        r.write(f"keys = tf.cast({keys.name}, tf.int64)")
        with r.indented("with tf.device(D[0]):"):
            r.write(
                f"{name} = tf.raw_ops.LookupTableFindV2(table_handle=h, "
                "keys=keys, default_value=.5)"
            )
        r.write(f"{name} = tf.reshape({name}, [2, 3])")
    table.reads.append(name)
    r.add(name, MATRIX, [keys])


def log(r: Renderer, n: Statement) -> None:
    """A line of the log, written by Python when the op runs."""
    state = r.other(
        "log",
        "log = []\ndef logged(key, value):\n"
        "  log.append((int(key), round(float(value.ravel()[0]), 2) + 0.))\n"
        "  return value",
    )
    value = r.pick(MATRIX, n[2], owned=True)
    name = r.new("k")
    with r.scope(r.controls(n[4], *state.before), n[5]):
        r.write(
            f"{name} = tf.reshape(tf.py_func(logged, [{r.count}, {value.name}], "
            "tf.float32), [2, 3])"
        )
    r.changed(state, name, is_value=True)
    r.add(name, MATRIX)


def check(r: Renderer, n: Statement) -> None:
    """An assertion that holds."""
    value = r.pick(MATRIX, n[2], owned=True)
    name = r.new("e")
    with r.scope(r.controls(n[4]), n[5]):
        r.write(
            f"{name} = tf.Assert(tf.reduce_all(tf.abs({value.name}) > -1.), "
            f"[{value.name}])"
        )
    r.ops.append(name)
    r.fetchable.append(name)
