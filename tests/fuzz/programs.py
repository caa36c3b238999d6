"""Random TensorFlow 1 programs whose results are defined.

A program is a list of statements, each a tuple of numbers. `render` makes source of
any such list: what a number refers to (a value, a variable, an op) it looks up modulo
what is there. So a statement can be left out, or a number made smaller, and there still
is a program: that is how failing ones are shrunk.

Every write of a variable has control dependencies on all that reads it before, every
read on the last write. So one order of effects is possible, whatever is pruned, and
the program has one result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

Statement = tuple[int, ...]

# Of each statement: what it does, and five numbers that say to what.
_LENGTH = 6
_LARGEST = 997

MATRIX, SCALAR = "M", "S"

# What changes nothing. `{a}` is [2, 3].
NEUTRAL = (
    *("{a} + 0.", "0. + {a}", "{a} * 1.", "1. * {a}", "{a} - 0.", "{a} / 1."),
    *("tf.identity({a})", "tf.reshape({a}, tf.shape({a}))", "tf.reshape({a}, [2, 3])"),
    *("{a} + tf.zeros([2, 3])", "tf.zeros([2, 3]) + {a}", "tf.ones([2, 3]) * {a}"),
    *("tf.transpose(tf.transpose({a}))", "tf.negative(tf.negative({a}))"),
    *("tf.reduce_sum({a}, axis=[])", "tf.concat([{a}], 0)", "tf.add_n([{a}])"),
    *("tf.pow({a}, 1.)", "tf.squeeze(tf.expand_dims({a}, 0), 0)"),
    *("tf.tile({a}, [1, 1])", "tf.slice({a}, [0, 0], [2, 3])"),
    *("tf.pad({a}, [[0, 0], [0, 0]])", "tf.stop_gradient({a})"),
    *("tf.broadcast_to({a}, [2, 3])", "{a} + tf.zeros_like({a})"),
    *("{a} * tf.ones_like({a})", "tf.reshape(tf.reshape({a}, [6]), [2, 3])"),
    *("tf.zeros(tf.shape({a})) + {a}", "tf.fill([2, 3], 0.) + {a}"),
    *("tf.matmul({a}, tf.eye(3))", "tf.nn.bias_add({a}, tf.zeros([3]))"),
    *("tf.reduce_max({a}[None], axis=0)", "tf.unstack({a}[None])[0]"),
    "tf.where(tf.ones([2, 3], tf.bool), {a}, {a})",
)
SCALAR_NEUTRAL = (
    *("{a} + 0.", "{a} * 1.", "{a} - tf.constant(0.)", "tf.identity({a})"),
    *("tf.reshape({a}, [])", "tf.negative(tf.negative({a}))", "tf.zeros([]) + {a}"),
    *("tf.reduce_sum({a})", "tf.add_n([{a}])", "tf.pow({a}, 1.)"),
)
# Neutral or not, these give memory of their own.
OWN = (
    *("{a} + 0.", "{a} * 1.", "{a} - 0.", "tf.zeros({shape}) + {a}", "{a} * .5"),
    *("tf.tanh({a})", "tf.maximum({a}, .25)", "{a} + 1.", "tf.negative({a})"),
)
UNARY = (
    *("tf.tanh({a})", "tf.sin({a})", "{a} * .5", "tf.negative({a})", "tf.nn.relu({a})"),
    *("{a} + 1.5", "tf.maximum({a}, .25)", "tf.abs({a})", "tf.sigmoid({a})"),
    *("tf.cast(tf.cast({a}, tf.float64), tf.float32)", "tf.square(tf.sin({a}))"),
)
BINARY = (
    *("{a} + {b}", "{a} - {b}", "{a} * tf.tanh({b})", "tf.maximum({a}, {b})"),
    *("tf.add_n([{a}, {b}, {a}]) / 3.", "tf.where({a} > {b}, {a}, {b})"),
    *("tf.zeros_like({b}) + {a}", "tf.tuple([{a}, {b}])[0]"),
    *("tf.concat([{a}, {b}], 0)[1:3]", "tf.stack([{a}, {b}])[1]"),
    *("tf.unstack(tf.stack([{a}, {b}]))[0]", "({a} + {b}) * 0. + {a}"),
    "tf.matmul({a}, tf.tanh({b}), transpose_b=True)[:, :1] + {a}",
)
REDUCE = (
    *("tf.reduce_mean({a})", "tf.reduce_max({a})", "tf.reduce_sum({a}) * .1"),
    *("{a}[0, 1]", "tf.cast(tf.size({a}), tf.float32)"),
    "tf.cast(tf.reduce_sum(tf.shape({a})), tf.float32)",
)
UPDATES = ("assign", "assign_add", "assign_sub")


def random_program(seed: int, length: int = 14) -> list[Statement]:
    """The statements of a program; equal seeds give equal programs."""
    draw = random.Random(seed)
    count = draw.randint(3, length)
    return [
        tuple(draw.randrange(_LARGEST) for _ in range(_LENGTH)) for _ in range(count)
    ]


@dataclass(frozen=True)
class _Value:
    name: str
    kind: str
    views: frozenset[str] = frozenset()  # whose buffers it may be


@dataclass
class _State:
    """What has an order: a variable or a queue."""

    name: str
    kind: str
    is_resource: bool
    last: str | None = None  # the op that changed it last
    reads: list[str] = field(default_factory=list)  # since then


HEADER = """\
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [2, 3], name="y")
s = tf.placeholder(tf.float32, [], name="s")
"""
FEEDS = (
    "{x: [[1., -2., 3.], [.5, 0., -1.]], y: [[.5, 1., -1.], [2., -.25, .75]], s: .5}",
    "{x: [[-1., 2., .25], [0., 1., 4.]], y: [[1., 0., 3.], [-2., .5, .125]], s: -2.}",
)


class Renderer:
    """Writes one program."""

    def __init__(self) -> None:
        self.lines: list[str] = [HEADER]
        self.values = [
            _Value("x", MATRIX),
            _Value("y", MATRIX),
            _Value("s", SCALAR),
        ]
        self.states: list[_State] = []
        self.queue = _State("q", "Q", True)
        self.queued = 0
        self.ops: list[str] = []  # that may be fetched, or waited for
        self.count = 0
        self._declare()

    def _declare(self) -> None:
        for index, (kind, is_resource) in enumerate(
            [(MATRIX, True), (MATRIX, False), (SCALAR, True), (SCALAR, False)]
        ):
            name = f"v{index}"
            start = (
                f"{index + 1}." if kind == SCALAR else f"[[{index + 1}., 2., 0.]] * 2"
            )
            self.write(f"with tf.device(D[{index % 2}]):")
            self.write(
                f"    {name} = tf.get_variable({name!r}, "
                f"initializer=tf.constant({start}), use_resource={is_resource})"
            )
            self.states.append(_State(name, kind, is_resource))
        self.write("with tf.device(D[0]):")
        self.write("    q = tf.FIFOQueue(64, tf.float32, shapes=[[2, 3]])")

    # --- writing ---------------------------------------------------------------------

    def write(self, line: str) -> None:
        self.lines.append(line)

    def new(self, prefix: str = "t") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, kind: str, number: int, *, owned: bool = False) -> _Value:
        found = [v for v in self.values if v.kind == kind and not (owned and v.views)]
        # The latest are the likeliest.
        return found[-1 - number % min(len(found), 6)]

    def state(self, number: int) -> _State:
        return self.states[number % len(self.states)]

    def controls(self, number: int, *must: str | None) -> list[str]:
        """What an op waits for: what it must, and at times something else."""
        names = [name for name in must if name is not None]
        if self.ops and number % 3 == 0:
            names.append(self.ops[number % len(self.ops)])
        return list(dict.fromkeys(names))

    def place(self, number: int) -> str:
        return f"with tf.device(D[{number // 7 % 2}]):"

    def add(
        self, name: str, kind: str, used: Sequence[_Value] = (), *, own: bool
    ) -> None:
        """Notes a new value of these; one that is no view has read their variables."""
        views = frozenset().union(*(v.views for v in used)) if used else frozenset()
        for state in self.states:
            if state.name in views:
                state.reads.append(name)
        self.values.append(_Value(name, kind, frozenset() if own else views))
        self.ops.append(name)

    def changed(self, state: _State, op: str) -> None:
        state.last, state.reads = op, []
        self.values = [v for v in self.values if state.name not in v.views]
        self.ops.append(op)

    def scope(
        self, controls: Sequence[str], number: int, *used: _Value | _State
    ) -> None:
        """Opens the scopes of a statement.

        What reads a reference variable is where the variable is: from elsewhere nobody
        can say when it is read.
        """
        here = any(isinstance(u, _State) or u.views for u in used)
        self.write("with tf.device(D[1]):" if here else self.place(number))
        self.write(f"  with tf.control_dependencies([{', '.join(controls)}]):")

    # --- statements ------------------------------------------------------------------

    def neutral(self, n: Statement) -> None:
        kind = SCALAR if n[1] % 4 == 0 else MATRIX
        value = self.pick(kind, n[2])
        table = NEUTRAL if kind == MATRIX else SCALAR_NEUTRAL
        name = self.new()
        self.scope(self.controls(n[4]), n[5], value)
        self.write(f"    {name} = {table[n[3] % len(table)].format(a=value.name)}")
        self.add(name, kind, [value], own=False)

    def unary(self, n: Statement) -> None:
        kind = SCALAR if n[1] % 4 == 0 else MATRIX
        value = self.pick(kind, n[2])
        name = self.new()
        self.scope(self.controls(n[4]), n[5], value)
        self.write(f"    {name} = {UNARY[n[3] % len(UNARY)].format(a=value.name)}")
        self.add(name, kind, [value], own=n[3] % len(UNARY) != 9)

    def binary(self, n: Statement) -> None:
        a, b = self.pick(MATRIX, n[1]), self.pick(MATRIX, n[2])
        name = self.new()
        self.scope(self.controls(n[4]), n[5], a, b)
        text = BINARY[n[3] % len(BINARY)].format(a=a.name, b=b.name)
        self.write(f"    {name} = {text}")
        self.add(name, MATRIX, [a, b], own=False)

    def reduce(self, n: Statement) -> None:
        value = self.pick(MATRIX, n[2])
        name = self.new()
        self.scope(self.controls(n[4]), n[5], value)
        self.write(f"    {name} = {REDUCE[n[3] % len(REDUCE)].format(a=value.name)}")
        self.add(name, SCALAR, [value], own=False)

    def read(self, n: Statement) -> None:
        state = self.state(n[1])
        name = self.new("r")
        self.scope(self.controls(n[4], state.last), n[5], state)
        shape = "[2, 3]" if state.kind == MATRIX else "[]"
        text = OWN[n[3] % len(OWN)].format(a=state.name, shape=shape)
        views: frozenset[str] = frozenset()
        if n[2] % 3 == 0:
            text = f"tf.identity({text})"
        elif n[2] % 3 == 1:
            table = NEUTRAL if state.kind == MATRIX else SCALAR_NEUTRAL
            text = table[n[3] % len(table)].format(a=state.name)
            if not state.is_resource:
                views = frozenset([state.name])
        self.write(f"    {name} = {text}")
        state.reads.append(name)
        self.values.append(_Value(name, state.kind, views))
        self.ops.append(name)

    def update(self, n: Statement) -> None:
        state = self.state(n[1])
        # TensorFlow would let a resource variable share the memory of a reference.
        value = self.pick(state.kind, n[2], owned=state.is_resource)
        name = self.new("w")
        self.scope(self.controls(n[4], state.last, *state.reads), n[5], value)
        how = UPDATES[n[3] % len(UPDATES)]
        shape = f"{state.name}.shape.as_list()"
        given = (
            value.name,
            f"tf.zeros({shape}) + {value.name}",
            f"{value.name} * tf.ones({shape})",
            f"tf.identity({value.name} + 0.)",
        )[n[3] // 3 % 4]
        self.write(f"    {name} = {state.name}.{how}({given}).op")
        for view in value.views:
            if view != state.name:
                self._state_named(view).reads.append(name)
        self.changed(state, name)

    def _state_named(self, name: str) -> _State:
        return next(state for state in self.states if state.name == name)

    def swap(self, n: Statement) -> None:
        """a, b = b, a"""
        first, second = self.states[0:2] if n[1] % 2 else self.states[2:4]
        if n[2] % 2:
            first, second = second, first
        old, one, two = self.new("r"), self.new("w"), self.new("w")
        neutral = ("{a} + 0.", "{a} * 1.", "{a} - 0.", "0. + {a}")[n[3] % 4]
        text = neutral.format(a=first.name)
        given = second.name if not first.is_resource else f"{second.name} + 0."
        both = [first.last, second.last, *first.reads, *second.reads]
        self.scope(self.controls(n[4], *both), n[5], first)
        self.write(f"    {old} = tf.identity({text})")
        self.write(f"    with tf.control_dependencies([{old}]):")
        self.write(f"      {one} = {first.name}.assign({given}).op")
        self.write(f"    with tf.control_dependencies([{one}]):")
        self.write(f"      {two} = {second.name}.assign({old}).op")
        self.changed(first, one)
        self.changed(second, two)
        first.reads.append(two)
        self.values.append(_Value(old, first.kind))

    def enqueue(self, n: Statement) -> None:
        value = self.pick(MATRIX, n[2], owned=True)
        name = self.new("e")
        self.scope(self.controls(n[4], self.queue.last), n[5])
        self.write(f"    {name} = q.enqueue([{value.name}])")
        self.changed(self.queue, name)
        self.queued += 1

    def dequeue(self, n: Statement) -> None:
        if not self.queued:
            self.enqueue(n)
        name = self.new("d")
        self.scope(self.controls(n[4], self.queue.last), n[5])
        self.write(f"    {name} = tf.reshape(q.dequeue(), [2, 3])")
        self.changed(self.queue, name)
        self.queued -= 1
        self.values.append(_Value(name, MATRIX))

    def group(self, n: Statement) -> None:
        names = [self.ops[i % len(self.ops)] for i in n[1:4]] if self.ops else []
        if names:
            name = self.new("g")
            self.scope((), n[5])
            self.write(f"    {name} = tf.group({', '.join(names)})")
            self.ops.append(name)

    def branch(self, n: Statement) -> None:
        """A cond; at times with an update in a branch."""
        a, b = self.pick(MATRIX, n[2], owned=True), self.pick(MATRIX, n[3], owned=True)
        state = self.states[n[1] % 2 * 2] if n[1] % 4 else None
        name = self.new("c")
        must = [state.last, *state.reads] if state else []
        self.write(f"def {name}_true():")
        if state is None:
            self.write(f"  return {UNARY[n[3] % len(UNARY)].format(a=a.name)}")
        else:
            value = self.pick(state.kind, n[2], owned=True).name
            given = (value, f"{value} + 0.", f"tf.zeros({state.name}.shape) + {value}")
            self.write(
                f"  with tf.control_dependencies([{state.name}.assign_add("
                f"{given[n[3] % 3]}).op]):"
            )
            self.write(
                f"    return {a.name} + tf.reduce_sum({state.name}.read_value())"
            )
        self.write(f"def {name}_false():")
        self.write(f"  return {NEUTRAL[n[3] % len(NEUTRAL)].format(a=b.name)}")
        predicate = ("s > 0.", "tf.reduce_sum(y) > 2.", "x[0, 0] < 0.")[n[4] % 3]
        self.scope(self.controls(n[4], *must), n[5])
        self.write(f"    {name} = tf.cond({predicate}, {name}_true, {name}_false)")
        if state is not None:
            self.changed(state, name)
            self.ops.pop()
        self.add(name, MATRIX, own=True)

    def loop(self, n: Statement) -> None:
        """A loop; at times with an update in its body, or with its gradient."""
        a, b = self.pick(MATRIX, n[2], owned=True), self.pick(MATRIX, n[3], owned=True)
        state = self.states[n[1] % 2 * 2] if n[1] % 3 == 0 else None
        name = self.new("l")
        must = [state.last, *state.reads] if state else []
        inner = NEUTRAL[n[3] % len(NEUTRAL)].format(a="h")
        self.write(f"def {name}_body(i, h, unread):")
        if state is not None:
            given = ("h" if state.kind == MATRIX else "tf.reduce_mean(h)", "0.")[
                n[3] % 2
            ]
            self.write(
                f"  w = {state.name}.assign_add(tf.zeros({state.name}.shape) + {given})"
            )
            self.write("  with tf.control_dependencies([w.op]):")
            self.write(f"    h = h + tf.reduce_mean({state.name}.read_value())")
        self.write(f"  h = tf.tanh({inner}) + tf.stop_gradient({b.name}) * .5")
        self.write("  return i + 1, h, unread + tf.reduce_sum(h)")
        self.scope(self.controls(n[4], *must), n[5])
        start = f"[0, tf.reshape({a.name}, [2, 3]), 0.]"
        # TensorFlow leaves out effects before loops that it sees to have no iterations.
        self.write(f"    {name}_n = tf.cast(tf.abs(s), tf.int32) + {n[4] % 3}")
        self.write(
            f"    {name}_all = tf.while_loop(lambda i, h, u: "
            f"i < {name}_n, {name}_body, {start})"
        )
        self.write(f"    {name} = tf.tanh({name}_all[1])")
        if state is not None:
            self.changed(state, name)
            self.ops.pop()
        self.add(name, MATRIX, own=True)
        if state is None and n[5] % 2:
            grad = self.new("d")
            self.write(self.place(n[5]))
            self.write(f"    {grad} = tf.gradients({name}, {a.name})[0]")
            self.write(f"    if {grad} is None: {grad} = tf.zeros([2, 3])")
            self.add(grad, MATRIX, own=True)

    def gradient(self, n: Statement) -> None:
        a, b = self.pick(MATRIX, n[1], owned=True), self.pick(MATRIX, n[2], owned=True)
        loss, grad = self.new("o"), self.new("d")
        self.scope(self.controls(n[4]), n[5])
        inner = NEUTRAL[n[3] % len(NEUTRAL)].format(a=a.name)
        # TensorFlow differentiates no loop twice, and none under control dependencies.
        other = f"tf.stop_gradient({b.name})"
        text = BINARY[n[4] % len(BINARY)].format(a=f"tf.tanh({inner})", b=other)
        self.write(f"    {loss} = {text}")
        self.write(f"    {grad} = tf.gradients({loss}, {a.name})[0]")
        self.write(f"    if {grad} is None: {grad} = tf.zeros([2, 3])")
        self.add(loss, MATRIX, own=True)
        self.add(grad, MATRIX, own=True)

    def train(self, n: Statement) -> None:
        """A step of an optimizer over both matrices."""
        states = self.states[0:2] if n[1] % 3 else self.states[n[1] // 3 % 2 :][:1]
        a = self.pick(MATRIX, n[2], owned=True)
        name = self.new("w")
        optimizer = (
            "tf.train.GradientDescentOptimizer(.1)",
            "tf.train.MomentumOptimizer(.1, .9)",
            "tf.train.AdagradOptimizer(.1)",
        )[n[3] % 3]
        before = [n for st in states for n in [st.last, *st.reads]]
        self.scope(self.controls(n[4], *before), n[5], *states)
        total = " + ".join(
            f"tf.tanh({NEUTRAL[n[3] % len(NEUTRAL)].format(a=st.name)})"
            for st in states
        )
        self.write(
            f"    {name}_loss = tf.reduce_mean(({total}) * tf.stop_gradient({a.name}))"
        )
        names = ", ".join(st.name for st in states)
        self.write(f"    {name}_o = {optimizer}")
        self.write(f"    {name}_g = {name}_o.compute_gradients({name}_loss, [{names}])")
        self.write(f"    {name}_g = [(g, v) for g, v in {name}_g if g is not None]")
        self.write(f"    {name}_c = [{name}_loss] + [g for g, _ in {name}_g]")
        self.write(f"    with tf.control_dependencies({name}_c):")
        self.write(
            f"      {name} = {name}_o.apply_gradients({name}_g) if {name}_g"
            " else tf.no_op()"
        )
        for state in states:
            self.changed(state, name)

    def call(self, n: Statement) -> None:
        """A function; with a resource variable it reads or changes it."""
        a, b = self.pick(MATRIX, n[1], owned=True), self.pick(MATRIX, n[2], owned=True)
        name = self.new("f")
        state = self.states[n[4] % 2 * 2] if n[4] % 3 == 0 else None
        self.write("@tf.function(autograph=False)")
        self.write(f"def {name}_(a, b):")
        inner = NEUTRAL[n[3] % len(NEUTRAL)].format(a="a")
        if state is not None and n[3] % 2:
            shape = f"{state.name}.shape"
            self.write(
                f"  {state.name}.assign_add(tf.zeros({shape}) + tf.reduce_mean(a))"
            )
        more = f" + tf.reduce_sum({state.name}.read_value())" if state else ""
        text = BINARY[n[5] % len(BINARY)].format(a=inner, b="b")
        self.write(f"  return {text}{more}")
        must = [state.last, *state.reads] if state else []
        self.scope(self.controls(n[4], *must), n[5])
        self.write(
            f"    {name} = {name}_(tf.reshape({a.name}, [2, 3]), "
            f"tf.reshape({b.name}, [2, 3]))"
        )
        if state is not None:
            self.changed(state, name)
            self.ops.pop()
        self.add(name, MATRIX, own=True)

    # --- the whole -------------------------------------------------------------------

    def source(self, statements: Sequence[Statement]) -> str:
        table = _STATEMENTS
        for statement in statements:
            table[statement[0] % len(table)](self, statement)
        self._runs(statements)
        return "\n".join(self.lines) + "\n"

    def _runs(self, statements: Sequence[Statement]) -> None:
        seed = sum(sum(statement) for statement in statements)
        owned = {v.name for v in self.values if not v.views}
        fetchable = [
            name
            for name in self.ops
            if name in owned or name[0] in "weg" or name == self.queue.last
        ]
        self.write("result = []")
        self.write("with tf.Session(TARGET, config=CONFIG) as sess:")
        self.write("  sess.run(tf.global_variables_initializer())")
        for run in range(3):
            chosen = [
                name
                for i, name in enumerate(fetchable)
                if (seed * 31 + run * 17 + i * i) % 5 < 2
                or (run == 1 and i > len(fetchable) - 3)
            ] or fetchable[-1:]
            if not chosen:
                chosen = ["x"]
            feeds = FEEDS[run % 2]
            self.write(f"  result.append(sess.run([{', '.join(chosen)}], {feeds}))")
            self.write("  result.append(sess.run([v0, v1, v2, v3]))")


_Make = Callable[[Renderer, Statement], None]
_STATEMENTS: tuple[_Make, ...] = (
    *(Renderer.neutral, Renderer.neutral, Renderer.unary, Renderer.binary),
    *(Renderer.reduce, Renderer.read, Renderer.read, Renderer.update),
    *(Renderer.update, Renderer.update, Renderer.swap, Renderer.enqueue),
    *(Renderer.dequeue, Renderer.group, Renderer.branch, Renderer.loop),
    *(Renderer.gradient, Renderer.train, Renderer.call),
)


def render(statements: Sequence[Statement]) -> str:
    """The source of a program; it wants `tf`, `D`, `TARGET` and `CONFIG`."""
    return Renderer().source(statements)


def smaller(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Programs with less in them, the smallest first."""
    size = len(statements)
    length = size // 2
    while length:
        for start in range(0, size, length):
            yield [*statements[:start], *statements[start + length :]]
        length //= 2
    for index, statement in enumerate(statements):
        for place in range(1, _LENGTH):
            if statement[place]:
                for number in (0, 1, 2):
                    if number < statement[place]:
                        changed = list(statement)
                        changed[place] = number
                        yield [
                            *statements[:index],
                            tuple(changed),
                            *statements[index + 1 :],
                        ]
