"""Reuses the memory of arrays that every iteration of a loop allocates.

before: while ...: v = dot(state, w);            u = argmax(v)
after:  b = None
        while ...: v = b = dot(state, w, b);     u = argmax(v)

The first iteration makes the array, so that its shape and strides are what the kernel
gives; the others write over it. That takes kernels that can write into an `out`, and
readers that are known to keep no view (`kernels/host/array/buffer_forwarding.py`). An
array that is the next value of a loop variable is read in the next iteration too: it
alternates with a second one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorloom.kernels.host.array import buffer_forwarding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.worker.compile.emitter import Emitter
    from tensorloom.worker.compile.values import Line, Scope, Value


@dataclass(slots=True, eq=False)
class Made:
    """A line of a loop's body that makes an array."""

    line: Line
    name: str  # of the array
    before: str  # the call up to the place of its `out`
    after: str
    value: Value  # the last one in that memory

    def write_into(self, name: str, also: str = "") -> None:
        """The call with what a local variable has as its `out`, None for a new array.

        Args:
          name: the variable.
          also: another one that gets the result.
        """
        targets = f"{self.name} = {also} =" if also else f"{self.name} ="
        self.line.text = f"{targets} {self.before}{name}{self.after}"


def note(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    compute: Callable[..., Any],
    arguments: Sequence[str],
) -> None:
    """Notes the line of a kernel that makes an array, if it could write into one.

    Args:
      scope: where its line is the last one.
      compute: the kernel.
      arguments: of the call, without an `out`.
    """
    if scope.made is not None and compute in buffer_forwarding.TAKES_OUT:
        call = emitter.bind(buffer_forwarding.TAKES_OUT[compute])
        add(scope, node, f"{call}({', '.join(arguments)}, ", ")")


def add(scope: Scope, node: Node, before: str, after: str) -> Made:
    """Notes that the last line makes the array of a node, which is its first output.

    Args:
      before, after: the call that the line may have instead, around its `out`.
    """
    value = scope.values[node.name, 0]
    assert value.host_name is not None
    made = Made(scope.lines[-1], value.host_name, before, after, value)
    dims = node.output_shapes[0].dims_tuple if node.output_shapes else None
    # Other arrays need not have the same shape in each iteration.
    if scope.made is not None and dims and None not in dims and scope.drops_values:
        value.made = made
        scope.made.append(made)
    return made


def overwritten(value: Value, by: Value) -> None:
    """Notes that a value overwrites the memory of an input."""
    by.made = value.made
    if by.made is not None:
        by.made.value = by


def place(
    emitter: Emitter,
    scope: Scope,
    node: Node,
    blocks: Sequence[tuple[FunctionIR, Scope]],
    variables: Sequence[Value],
    results: Sequence[Value],
) -> list[tuple[str, str]]:
    """Gives the arrays of a loop's body their memory.

    Args:
      scope: where the loop is; its lines so far are before the loop.
      node: the loop.
      blocks: its condition and its body, emitted.
      variables: its variables.
      results: what the body gives, one for each of them.

    Returns:
      Assignments that the end of each iteration needs beside the others.
    """
    assignments = []
    step = blocks[1][1]
    for made in step.made or ():
        value = made.value
        if not value.is_own:
            continue
        places = [i for i, result in enumerate(results) if result is value]
        if not places:
            name = emitter.new_name(scope, "b")
            scope.write(f"{name} = None", node)
            made.write_into(name, name)
        elif len(places) == 1 and _is_only_read(places[0], blocks, variables, results):
            last, spare = (emitter.new_name(scope, "b") for _ in range(2))
            scope.write(f"{last} = {spare} = None", node)
            made.write_into(spare)
            assert value.host_name is not None
            assignments += [(last, value.host_name), (spare, last)]
    return assignments


def _is_only_read(
    index: int,
    blocks: Sequence[tuple[FunctionIR, Scope]],
    variables: Sequence[Value],
    results: Sequence[Value],
) -> bool:
    """Whether nobody can have a loop variable when its next iteration has ended."""
    if variables[index].host_name is None:
        return False
    for function, block in blocks:
        value = block.values.get((function.arg_names[index], 0))
        if value is None or not value.is_own or value in results:
            return False
    return True
