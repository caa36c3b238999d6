"""Writes a program statement by statement, and knows what has an order in it.

Every write of a state (variable, queue, table, log) has control dependencies on all
that reads it before, every read on the last write. So one order of effects is possible,
whatever is pruned, and the program has one result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.fuzz.programs.tables import (
    DOUBLES,
    FLAGS,
    INTS,
    KINDS,
    MATRIX,
    PREDICATES,
    SCALAR,
    TEXTS,
    Kind,
)

Statement = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A tensor of the program."""

    name: str
    kind: str
    views: frozenset[str] = frozenset()  # the reference variables that it may show


@dataclass
class State:
    """What has an order: a variable, a queue, a table, the log."""

    name: str
    kind: str
    is_resource: bool
    last: str | None = None  # the op that changed it last
    reads: list[str] = field(default_factory=list)  # since then

    @property
    def before(self) -> list[str]:
        """What a write comes after."""
        return [*([self.last] if self.last else []), *self.reads]


VARIABLES: Final = (
    *((MATRIX, True), (MATRIX, False), (SCALAR, True), (SCALAR, False)),
    *((INTS, True), (INTS, False), (DOUBLES, False), (DOUBLES, True)),
    *((FLAGS, False), (TEXTS, True), (TEXTS, False)),
)
# Matrices are what most statements work on.
_DRAWN: Final = (0, 1, 2, 3, 0, 1, 0, 1, 2, 3, *range(4, len(VARIABLES)))

HEADER: Final = """\
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [2, 3], name="y")
s = tf.placeholder(tf.float32, [], name="s")
"""


class Renderer:
    """The lines of one program, and its values and states so far."""

    def __init__(self, written: frozenset[str] | None = None) -> None:
        """Begins a program.

        Args:
          written: reference variables whose memory nothing may come to share: a value
            is made of them before a queue or a resource variable keeps it. TensorFlow
            keeps the memory itself, and later writes show. None: of none.
        """
        self.lines: list[str] = []
        self.declared: list[str] = []
        self.values = [Value("x", MATRIX), Value("y", MATRIX), Value("s", SCALAR)]
        self.states: dict[str, State] = {}
        self.shared = written or frozenset[str]()
        self.written: set[str] = set()
        self.queued = 0
        self.fetchable: list[str] = []
        self.ops: list[str] = []  # that may be waited for
        self.count = 0
        self._depth = 0

    # --- writing ---------------------------------------------------------------------

    def write(self, line: str) -> None:
        """Adds a line at the current depth."""
        self.lines.append("  " * self._depth + line)

    @contextmanager
    def indented(self, line: str) -> Iterator[None]:
        """Adds a line, and what comes meanwhile inside of it."""
        self.write(line)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def new(self, prefix: str = "t") -> str:
        """A fresh name."""
        self.count += 1
        return f"{prefix}{self.count}"

    # --- values ----------------------------------------------------------------------

    def pick(self, kind: str, number: int, *, owned: bool = False) -> Value:
        """A value of the kind, the latest the likeliest.

        Args:
          owned: none that shows a variable.
        """
        found = [v for v in self.values if v.kind == kind and not (owned and v.views)]
        if not found:
            return self._made_of(kind, number)
        return found[-1 - number % min(len(found), 6)]

    def _made_of(self, kind: str, number: int) -> Value:
        """The first value of a kind."""
        name = self.new()
        text = {
            INTS: "tf.cast(tf.floor(y + .371), tf.int32)",
            DOUBLES: "tf.cast(y, tf.float64)",
            FLAGS: "y > .1234",
            TEXTS: "tf.as_string(tf.cast(tf.floor(y + .371), tf.int32))",
        }[kind]
        self.write(f"{name} = {text}")
        value = Value(name, kind)
        self.values.append(value)
        self.ops.append(name)
        self.fetchable.append(name)
        return value

    def any_kind(self, number: int, among: str = "MMMSIDBT") -> str:
        """The kind that a number stands for."""
        return among[number % len(among)]

    def predicate(self, number: int) -> str:
        """What may decide a branch: of feeds, a constant, or of a value."""
        choice = number % (len(PREDICATES) + 3)
        if choice < len(PREDICATES):
            return PREDICATES[choice]
        if choice == len(PREDICATES):
            return f"tf.reduce_all({self.pick(FLAGS, number, owned=True).name})"
        if choice == len(PREDICATES) + 1:
            return f"{self.pick(INTS, number, owned=True).name}[0, 0] > 1"
        return f"{self.pick(SCALAR, number, owned=True).name} > .1234"

    def add(
        self, name: str, kind: str, used: Sequence[Value] = (), *, own: bool = True
    ) -> None:
        """Notes a new value of these; one that is no view has read their variables."""
        views = frozenset[str]().union(*(v.views for v in used))
        for view in views:
            self.states[view].reads.append(name)
        kept = frozenset[str]() if own else views
        self.values.append(Value(name, kind, kept))
        self.ops.append(name)
        if not kept:
            self.fetchable.append(name)

    def to_keep(self, value: Value) -> str:
        """The value as what is on a device of its own gets it, and keeps it."""
        if value.views & self.shared or any(
            self._is_written_reference(view) for view in value.views
        ):
            return f"({KINDS[value.kind].own[0].format(a=value.name)})"
        return value.name

    # --- states ----------------------------------------------------------------------

    def variable(self, index: int) -> State:
        """A variable, declared when it is first asked for."""
        name = f"v{index}"
        if name not in self.states:
            kind, is_resource = VARIABLES[index]
            start = KINDS[kind].start.format(i=index + 1)
            self.declared += [
                f"with tf.device(D[{index % 2}]):",
                f"  {name} = tf.get_variable({name!r}, initializer={start}, "
                f"use_resource={is_resource})",
            ]
            self.states[name] = State(name, kind, is_resource)
        return self.states[name]

    def any_variable(self, number: int) -> State:
        """The variable that a number stands for."""
        return self.variable(_DRAWN[number % len(_DRAWN)])

    def matrix_or_scalar(self, number: int) -> State:
        """A resource variable of floats."""
        return self.variable(number % 2 * 2)

    def other(self, name: str, declaration: str) -> State:
        """A queue, table or log, declared when it is first asked for."""
        if name not in self.states:
            self.declared.append(declaration)
            self.states[name] = State(name, "", True)
        return self.states[name]

    @property
    def variables(self) -> list[State]:
        """The declared variables."""
        return [state for state in self.states.values() if state.kind]

    def kind_of(self, state: State) -> Kind:
        """What a variable holds."""
        return KINDS[state.kind]

    def _is_written_reference(self, name: str) -> bool:
        state = self.states[name]
        return not state.is_resource and state.last is not None

    def reads(self, value: Value, name: str, but: State | None = None) -> None:
        """Notes that the op reads what the value shows."""
        for view in value.views:
            if but is None or view != but.name:
                self.states[view].reads.append(name)

    def noted(self, name: str, state: State, own: bool) -> None:
        """Notes a read of a variable: a value of its own, or what shows it."""
        state.reads.append(name)
        self.values.append(
            Value(name, state.kind, frozenset() if own else frozenset([state.name]))
        )
        self.ops.append(name)
        if own:
            self.fetchable.append(name)

    def changed(self, state: State, op: str, *, is_value: bool = False) -> None:
        """Notes that an op wrote a state. A value may be noted as such besides."""
        state.last, state.reads = op, []
        if state.kind and not state.is_resource:
            self.written.add(state.name)
        self.values = [v for v in self.values if state.name not in v.views]
        if not is_value:
            self.ops.append(op)
            self.fetchable.append(op)

    # --- scopes ----------------------------------------------------------------------

    def controls(self, number: int, *must: str | None) -> list[str]:
        """What an op waits for: what it must, and at times something else."""
        names = [name for name in must if name is not None]
        if self.ops and number % 3 == 0:
            names.append(self.ops[number % len(self.ops)])
        return list(dict.fromkeys(names))

    @contextmanager
    def scope(
        self, controls: Sequence[str], number: int, *used: Value | State
    ) -> Iterator[None]:
        """The scopes of a statement.

        What reads a reference variable that was written in this program is where the
        variable is: from elsewhere nobody can say when it is read.
        """
        shown = {view for u in used if isinstance(u, Value) for view in u.views}
        shown |= {u.name for u in used if isinstance(u, State)}
        here = [name for name in sorted(shown) if self._is_written_reference(name)]
        device = int(here[0][1:]) % 2 if here else number // 7 % 2
        with (
            self.indented(f"with tf.device(D[{device}]):"),
            self.indented(f"with tf.control_dependencies([{', '.join(controls)}]):"),
        ):
            yield
