"""`functional_ops`: loops, branches and calls of `Defun` functions as single nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.function import Defun
from tensorloom.framework.graph.graph import Operation, Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.math.binary import floordiv
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import abs as absolute

if TYPE_CHECKING:
    from tensorloom.client.functions.function import DefinedFunction


def _result_types(function: DefinedFunction) -> list[Any]:
    return [argument.type for argument in function.definition.signature.output_arg]


def _argument_types(function: DefinedFunction) -> list[Any]:
    return [argument.type for argument in function.definition.signature.input_arg]


def If(
    cond: Any,
    inputs: Sequence[Any],
    then_branch: DefinedFunction,
    else_branch: DefinedFunction,
    name: str | None = None,
) -> list[Tensor]:
    """The results of one of two functions.

    Args:
      cond: a scalar; a number counts as true if it is not zero, a string if it is not
        empty.
      inputs: the arguments of both functions.
      then_branch, else_branch: functions of the same results.
      name: of the operation.
    """
    results: list[Tensor] = apply_op(
        "If",
        cond=cond,
        input=list(inputs),
        Tout=_result_types(then_branch),
        then_branch=then_branch,
        else_branch=else_branch,
        name=name,
    )
    return results


def Gradient(
    inputs: Sequence[Any], f: DefinedFunction, name: str | None = None
) -> list[Tensor]:
    """The gradients of a function's arguments.

    Args:
      inputs: the arguments of `f`, then the gradients of its results.
      f: the function.
      name: of the operation.
    """
    results: list[Tensor] = apply_op(
        "SymbolicGradient",
        input=list(inputs),
        Tout=_argument_types(f),
        f=f,
        name=name,
    )
    return results


def remote_call(
    args: Sequence[Any],
    Tout: Sequence[Any],
    f: DefinedFunction,
    target: Any,
    name: str | None = None,
) -> list[Tensor]:
    """The results of a function that runs on the device `target`, a scalar string."""
    results: list[Tensor] = apply_op(
        "RemoteCall", args=list(args), Tout=list(Tout), f=f, target=target, name=name
    )
    return results


def partitioned_call(
    args: Sequence[Any],
    f: DefinedFunction,
    tout: Sequence[Any] | None = None,
    executing_eagerly: bool | None = None,
    config: bytes | None = None,
    executor_type: str | None = None,
) -> Any:
    """The results of a function whose body may run on several devices.

    Args:
      args: its arguments.
      f: the function.
      tout: the dtypes of its results; None takes what it declares.
      executing_eagerly: not used; a graph is built.
      config: a serialized ConfigProto for the function's body.
      executor_type: of TensorFlow's executors; kept as an attr.

    Returns:
      A list of tensors, or the operation if there are none.
    """
    kind = "StatefulPartitionedCall" if f.stateful_ops else "PartitionedCall"
    types = _result_types(f) if tout is None else list(tout)
    return apply_op(
        kind,
        args=list(args),
        Tout=types,
        f=f,
        config_proto=config or b"",
        executor_type=executor_type or "",
        name=None if types else "PartitionedFunctionCall",
    )


def While(
    input_: Sequence[Any],
    cond: DefinedFunction,
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
) -> list[Tensor]:
    """The values after `body` has been applied for as long as `cond` gives true.

    Args:
      input_: the first values.
      cond: gives a scalar as `If` takes it. It may capture nothing.
      body: gives as many values of the same dtypes. It may capture tensors.
      name: of the operation.
      hostmem: which values stay in host memory on a GPU.

    Raises:
      ValueError: `cond` captures tensors, or takes other arguments than `body`.
    """
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured "
            "inputs."
        )
    types = body.declared_input_types
    if cond.declared_input_types != types:
        raise ValueError(
            "While op 'cond' and 'body' signatures do not match. "
            f"{cond.declared_input_types!r} vs {types!r}"
        )
    captured = body.captured_inputs
    results = apply_op(
        "While",
        input=[*input_, *captured],
        cond=_leaving_out_captures(cond, captured) if captured else cond,
        body=_handing_on_captures(body) if captured else body,
        name=name,
    )
    return _finish_loop(results, len(captured), hostmem, 0)


def For(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: bool | None = None,
) -> list[Tensor]:
    """The values after `body(i, *values)` for each i of range(start, limit, delta).

    Args:
      start, limit, delta: scalars of dtype int32.
      inputs: the first values.
      body: takes the index and the values, gives the values.
      name: of the operation.
      hostmem: which values stay in host memory on a GPU.
      rewrite_with_while: make a `While` of it.
    """
    if rewrite_with_while:
        return _for_by_while(start, limit, delta, inputs, body, name, hostmem)
    captured = body.captured_inputs
    results = apply_op(
        "For",
        start=start,
        limit=limit,
        delta=delta,
        input=[*inputs, *captured],
        body=_handing_on_captures(body) if captured else body,
        name=name,
    )
    return _finish_loop(results, len(captured), hostmem, 3)


def _finish_loop(
    results: list[Tensor], captures: int, hostmem: Sequence[int] | None, first: int
) -> list[Tensor]:
    """The results without captured tensors; notes which values are in host memory."""
    if hostmem:
        op = results[0].op
        op._set_attr("_input_hostmem", [first + index for index in hostmem])
        op._set_attr("_output_hostmem", list(hostmem))
    return results[: len(results) - captures]


def _leaving_out_captures(cond: DefinedFunction, captured: Sequence[Tensor]) -> Any:
    """The condition of a loop that carries captured tensors as well, a function."""
    declared = cond.declared_input_types
    more = [tensor.dtype for tensor in captured]

    @Defun(*declared, *more, func_name=f"{cond.name}_Wrapper")
    def wrapper(*args: Any) -> Any:
        return cond(*args[: len(declared)])

    return wrapper


def _handing_on_captures(body: DefinedFunction) -> Any:
    """The function with its captured tensors as further arguments and results."""
    declared = body.declared_input_types
    captured = [tensor.dtype for tensor in body.captured_inputs]

    @Defun(*declared, *captured, func_name=f"{body.name}_Wrapper")
    def wrapper(*args: Any) -> Any:
        results = apply_op(
            "PartitionedCall" if not body.stateful_ops else "StatefulPartitionedCall",
            args=list(args),
            Tout=_result_types(body),
            f=body,
        )
        values = [] if isinstance(results, Operation) else list(results)
        return (*values, *args[len(declared) :])

    return wrapper


def _for_by_while(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: DefinedFunction,
    name: str | None,
    hostmem: Sequence[int] | None,
) -> list[Tensor]:
    # Counts 0, 1, ... and not the indices themselves, so that delta may be negative.
    size = absolute(delta)
    count = floordiv(absolute(limit - start) + size - 1, size)
    types = [dtypes.int32] * 4 + list(body.declared_input_types)[1:]

    @Defun(*types, func_name=f"{body.name}_Cond")
    def condition(i: Any, n: Any, *args: Any) -> Any:
        return i < n

    @Defun(*types, func_name=f"{body.name}_Body")
    def step(i: Any, n: Any, start: Any, delta: Any, *args: Any) -> Any:
        values = body(start + i * delta, *args)
        if isinstance(values, Operation):
            values = ()
        elif isinstance(values, Tensor):
            values = (values,)
        return (i + 1, n, start, delta, *values)

    # Defun makes either kind of function; with dtypes given, one of fixed types.
    goes_on: Any = condition
    goes_round: Any = step
    kept = [0, 1, 2, 3, *(4 + index for index in hostmem or ())]
    first = [0, cast(count, dtypes.int32), start, delta, *inputs]
    return While(first, goes_on, goes_round, name, kept)[4:]
