"""Training loops of programs for TPUs: `tf.while_loop` with one step at a time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop as loop
from tensorloom.contrib.tpu.refused import refuse
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import tuple as together


@export("contrib.tpu.while_loop")
def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: Any = None,
    name: str | None = None,
) -> Any:
    """`inputs = body(*inputs)` while `condition(*inputs)` is true.

    Args:
      condition: gives a scalar bool.
      body: gives tensors as `inputs` are, then operations that each step runs.
      inputs: the first values; None: there are none.
      infeed_queue: of TPUs alone.
      name: not used.

    Returns:
      The last values.

    Raises:
      TypeError: a function takes another number of arguments, or `body` gives other
        dtypes.
      ValueError: `body` gives a tensor behind an operation.
      RuntimeError: there is an `infeed_queue`.
    """
    if infeed_queue is not None:
        refuse("while_loop with an infeed_queue")
    values = [convert_to_tensor(value) for value in inputs or ()]
    for kind, function in (("body", body), ("condition", condition)):
        _check_takes(kind, function, values)
    kinds = [value.dtype for value in values]

    def of_values(given: Any) -> Any:
        return given if values else ()

    def step(*given: Any) -> Any:
        outputs = _as_list(body(*of_values(given)))
        outputs = [
            output if isinstance(output, Operation) else convert_to_tensor(output)
            for output in outputs
        ]
        operations = [output for output in outputs if isinstance(output, Operation)]
        tensors = outputs[: len(outputs) - len(operations)]
        if any(isinstance(output, Operation) for output in tensors):
            raise ValueError(
                "TPU training loop body must return zero or more Tensor values "
                f"followed by zero or more Operations, not {outputs}."
            )
        if [tensor.dtype for tensor in tensors] != kinds:
            raise TypeError(
                "Mismatch between input types and output types for training loop body: "
                f"{kinds} vs {[tensor.dtype for tensor in tensors]}"
            )
        # A loop without values of its own carries one that nobody reads.
        tensors = tensors or [constant(0)]
        if operations:
            tensors = together(tensors, control_inputs=operations)
        return tensors

    return loop(
        lambda *given: condition(*of_values(given)),
        step,
        values or [constant(0)],
        name="",
        parallel_iterations=1,
    )


@export("contrib.tpu.repeat")
def repeat(
    n: Any,
    body: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: Any = None,
    name: str | None = None,
) -> Any:
    """`inputs = body(*inputs)`, so many times.

    Args:
      n: how many times.
      body: gives tensors as `inputs` are, then operations that each step runs.
      inputs: the first values: a list, or one; None: there are none.
      infeed_queue: of TPUs alone.
      name: not used.

    Returns:
      A list of the last values; without values the operation that runs the loop.

    Raises:
      TypeError, ValueError, RuntimeError: as `while_loop`.
    """
    outputs = while_loop(
        lambda i, *_: i < n,
        lambda i, *given: [i + 1, *_as_list(body(*given))],
        inputs=[0, *([] if inputs is None else _as_list(inputs))],
        infeed_queue=infeed_queue,
        name=name,
    )
    outputs = _as_list(outputs)
    return outputs[0].op if len(outputs) == 1 else outputs[1:]


def _as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else [values]


def _check_takes(kind: str, function: Callable[..., Any], values: list[Any]) -> None:
    try:
        inspect.signature(function).bind(*values)
    except TypeError as error:
        raise TypeError(
            f"Supplied loop {kind} function cannot be called with the specified "
            f"inputs. You specified {len(values)} inputs: "
            f"{[value.name for value in values]}, but: {error}"
        ) from error
