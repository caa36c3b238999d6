"""Random TensorFlow 1 programs whose results are defined.

A program is a list of statements, each a tuple of numbers. `render` makes source of
any such list: what a number refers to (a value, a variable, an op) it looks up modulo
what is there. So a statement can be left out, or a number made smaller, and there still
is a program: that is how failing ones are shrunk.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tests.fuzz.programs import control_flow, functions, states, values
from tests.fuzz.programs.renderer import HEADER, Renderer, Statement

__all__ = ["Statement", "random_program", "render", "smaller"]

# Of each statement: what it does, and five numbers that say to what.
_LENGTH: Final = 6
_LARGEST: Final = 997

FEEDS: Final = (
    "{x: [[1., -2., 3.], [.5, 0., -1.]], y: [[.5, 1., -1.], [2., -.25, .75]], s: .5}",
    "{x: [[-1., 2., .25], [0., 1., 4.]], y: [[1., 0., 3.], [-2., .5, .125]], s: -2.}",
)

_STATEMENTS: Final[tuple[Callable[[Renderer, Statement], None], ...]] = (
    *(values.neutral, values.neutral, values.unary, values.binary, values.convert),
    *(values.neutral, values.reduce, values.read, values.read, values.draw),
    *(values.group, values.pair, values.read, values.convert),
    *(states.update, states.update, states.update, states.written_value),
    *(states.scatter, states.swap, states.swap, states.enqueue, states.dequeue),
    *(states.size, states.insert, states.find, states.log, states.check),
    *(control_flow.branch, control_flow.results, control_flow.case),
    *(control_flow.primitives, control_flow.loop, control_flow.loop),
    *(control_flow.array, control_flow.mapped, control_flow.branch),
    *(functions.call, functions.call, functions.functional, functions.gradient),
    *(functions.gradient, functions.train),
)


def random_program(seed: int, length: int = 14) -> list[Statement]:
    """The statements of a program; equal seeds give equal programs."""
    draw = random.Random(seed)
    count = draw.randint(3, length)
    return [
        tuple(draw.randrange(_LARGEST) for _ in range(_LENGTH)) for _ in range(count)
    ]


def render(statements: Sequence[Statement], *, shares_memory: bool = False) -> str:
    """The source of a program; it wants `tf`, `Defun`, `D`, `TARGET` and `CONFIG`.

    Args:
      shares_memory: it is for TensorFlow, where a queue or a resource variable keeps
        the memory of a reference variable, and not its value, unless a value is made
        of it first.
    """
    if shares_memory:
        written = frozenset(_rendered(statements, frozenset()).written)
        return _source(statements, written)
    return _source(statements, frozenset())


def _rendered(statements: Sequence[Statement], written: frozenset[str]) -> Renderer:
    renderer = Renderer(written)
    for statement in statements:
        _STATEMENTS[statement[0] % len(_STATEMENTS)](renderer, statement)
    return renderer


def _source(statements: Sequence[Statement], written: frozenset[str]) -> str:
    r = _rendered(statements, written)
    number = sum(sum(statement) for statement in statements)
    version = "enable" if number % 4 == 0 else "disable"
    lines = [f"tf.{version}_control_flow_v2()", HEADER, *r.declared, *r.lines]
    return "\n".join([*lines, *_runs(r, number)]) + "\n"


def _runs(r: Renderer, number: int) -> list[str]:
    """Three runs of some of what can be fetched, and a look at all states."""
    looks = [f"tf.identity({state.name})" for state in r.variables]
    if "q" in r.states:
        looks.append("q.size()")
    if "h" in r.states:
        looks.append("tf.raw_ops.LookupTableSizeV2(table_handle=h)")
    lines = [
        f"looks = [{', '.join(looks)}]",
        "result = []",
        "with tf.Session(TARGET, config=CONFIG) as sess:",
        "  sess.run(tf.global_variables_initializer())",
    ]
    for run in range(3):
        chosen = [
            name
            for i, name in enumerate(r.fetchable)
            if (number * 31 + run * 17 + i * i) % 5 < 2
            or (run == 1 and i > len(r.fetchable) - 3)
        ] or r.fetchable[-1:]
        chosen = chosen or ["y"]
        lines += _run(chosen, FEEDS[run % 2], parts=run == 1 and number % 3 == 0)
        lines.append("  result.append(sess.run(looks))")
        if "log" in r.states:
            lines.append("  result.append(list(log))")
    return lines


def _run(chosen: Sequence[str], feeds: str, *, parts: bool) -> list[str]:
    """One run; or a partial one, which takes tensors alone."""
    tensors = [name for name in chosen if name[0] not in "weg"]
    if not parts or len(tensors) < 2:
        return [f"  result.append(sess.run([{', '.join(chosen)}], {feeds}))"]
    half = len(tensors) // 2
    first, second = ", ".join(tensors[:half]), ", ".join(tensors[half:])
    return [
        f"  part = sess.partial_run_setup([{first}, {second}], [x, y, s])",
        f"  result.append(sess.partial_run(part, [{first}], {feeds}))",
        f"  result.append(sess.partial_run(part, [{second}]))",
    ]


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
