"""Loops, branches, calls and arrays: TorchScript has them, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.deploy.program import Unexportable
from tensorloom.deploy.torchscript.registry import writer
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.torchscript.source import Block, Line
    from tensorloom.framework.graph.graph_ir import FunctionIR

# What stands for the handle of an array: its flow has the elements.
_HANDLE: Final = "None"


def _function(line: Line, attr: str) -> FunctionIR:
    return line.source.graph.functions[line.node.attrs[attr].name]


def _results(block: Block, function: FunctionIR) -> list[str]:
    return [block.values[edge] for edge in function.returns]


def _know(block: Block, line: Line, function: FunctionIR, first: int) -> None:
    """Tells a body which of its arguments are constants."""
    for at, name in enumerate(function.arg_names):
        value = line.static(first + at)
        if value is not None:
            block.known[name, 0] = value


@writer("PartitionedCall", "StatefulPartitionedCall")
def _call(line: Line) -> list[str]:
    function = _function(line, "f")
    inner = line.block.inner(function, line.inputs)
    _know(inner, line, function, 0)
    inner.write()
    return _results(inner, function)


@writer("If", "StatelessIf")
def _branches(line: Line) -> list[str]:
    if line.input_dtype(0) != dtypes.bool:
        raise Unexportable("its predicate is no truth")
    source = line.source
    names = [source.fresh() for _ in line.node.output_types]
    for head, attr in (
        (f"if bool({line[0]}):", "then_branch"),
        ("else:", "else_branch"),
    ):
        function = _function(line, attr)
        source.add(head)
        source.depth += 1
        inner = line.block.inner(function, line.inputs[1:])
        _know(inner, line, function, 1)
        inner.write()
        for name, value in zip(names, _results(inner, function), strict=True):
            source.add(f"{name} = {value}")
        if not names:
            source.add("pass")
        source.depth -= 1
    return names


@writer("While", "StatelessWhile")
def _loop(line: Line) -> list[str]:
    test, step = _function(line, "cond"), _function(line, "body")
    source, count = line.source, len(line)
    changing = [
        at for at in range(count) if step.returns[at] != (step.arg_names[at], 0)
    ]
    state = list(line.inputs)
    for at in changing:
        state[at] = source.fresh()
        source.add(f"{state[at]} = {line[at]}")
    goes_on = source.fresh()
    _write_test(line, test, state, changing, goes_on)
    source.add(f"while {goes_on}:")
    source.depth += 1
    body = line.block.inner(step, state)
    _know(body, line, step, 0)
    _forget(body, step, changing)
    body.write()
    results = _results(body, step)
    # All are read before the first is changed.
    new = {at: source.fresh() for at in changing}
    for at in changing:
        source.add(f"{new[at]} = {results[at]}")
    for at in changing:
        source.add(f"{state[at]} = {new[at]}")
    _write_test(line, test, state, changing, goes_on)
    source.depth -= 1
    return state


def _write_test(
    line: Line, test: FunctionIR, state: list[str], changing: list[int], name: str
) -> None:
    block = line.block.inner(test, state)
    _know(block, line, test, 0)
    _forget(block, test, changing)
    block.write()
    line.source.add(f"{name} = bool({_results(block, test)[0]})")


def _forget(block: Block, function: FunctionIR, changing: list[int]) -> None:
    for at in changing:
        block.known.pop((function.arg_names[at], 0), None)


# --- arrays --------------------------------------------------------------------------


@writer("TensorArrayV3")
def _array(line: Line) -> list[str]:
    return [_HANDLE, f"array({line.one_int(0)})"]


@writer("TensorArrayScatterV3")
def _scatter(line: Line) -> str:
    return f"array_scattered({line[3]}, {line[1]}, {line[2]})"


@writer("TensorArrayWriteV3")
def _write(line: Line) -> str:
    return f"array_written({line[3]}, {line.one_int(1)}, {line[2]})"


@writer("TensorArrayReadV3")
def _read(line: Line) -> str:
    return f"{line[2]}[{line.one_int(1)}]"


@writer("TensorArrayGatherV3")
def _gather(line: Line) -> str:
    return f"array_gathered({line[2]}, {line[1]})"


@writer("TensorArraySizeV3")
def _size(line: Line) -> str:
    return f"torch.tensor(len({line[1]}), dtype=torch.int32)"
