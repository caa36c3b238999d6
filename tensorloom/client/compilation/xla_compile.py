"""`tf.xla.experimental.compile`: a computation that XLA would compile as one.

The graph is TensorFlow's: marked operations between a pivot and `XlaClusterOutput`s.
`master/optimize/clusters/` makes clusters of what they mark.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.compilation.xla_context import XLACompileContext
from tensorloom.client.variables.variable_scope import get_variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import control_dependencies, device
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import identity
from tensorloom.ops.control_flow.builders import group, no_op


@RegisterGradient("XlaClusterOutput")
def _cluster_output_gradient(op: Any, grad: Any) -> Any:
    return grad


@export("xla.experimental.compile", "contrib.compiler.xla.compile")
def compile(
    computation: Callable[..., Any], inputs: Sequence[Any] | None = None
) -> Any:
    """Builds a computation that is marked as one for XLA.

    Args:
      computation: a function of tensors. It returns tensors, or tensors and then
        operations, or a nested structure of tensors. The operations run when any of
        the tensors is asked for. It sees resource variables only.
      inputs: its arguments: a list of values, or of structures of values.

    Returns:
      What the function returns, as tensors: a list if it was flat. An operation, if
      the function returns no tensors.

    Raises:
      TypeError: `inputs` is no list or tuple.
      ValueError: what the function returns is no tensor, or operations come first or
        are in a structure; one such computation is in another.
      NotImplementedError: it uses a reference variable.
    """
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, Sequence):
        raise TypeError("inputs must be a list")
    arguments = [convert_to_tensor(value) for value in nest.flatten(inputs)]
    name = get_default_graph().unique_name("cluster")
    pivot = no_op(name=f"{name}/pivot")
    context = XLACompileContext(name, pivot)
    try:
        context.Enter()
        arguments = [
            identity(value, name=f"input_{at}") for at, value in enumerate(arguments)
        ]
        outputs = _with_resource_variables(
            computation, nest.pack_sequence_as(inputs, arguments)
        )
        is_flat = _is_flat(outputs)
        tensors, operations = _flat(outputs) if is_flat else (_nested(outputs), [])
        context.ExitResult(tensors)
    finally:
        context.report_unsupported_operations()
        context.Exit()
    if not tensors:
        return group(*operations, name="output_0")
    tensors = [
        apply_op("XlaClusterOutput", input=tensor, name=f"output{at}")
        for at, tensor in enumerate(tensors)
    ]
    with control_dependencies(operations):
        tensors = [
            identity(tensor, name=f"output_{at}") for at, tensor in enumerate(tensors)
        ]
    return tensors if is_flat else nest.pack_sequence_as(outputs, tensors)


def _with_resource_variables(computation: Callable[..., Any], arguments: Any) -> Any:
    scope = get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        return computation(*arguments)
    finally:
        scope.set_use_resource(before)


def _is_flat(outputs: Any) -> bool:
    if isinstance(outputs, Sequence):
        return not any(isinstance(one, (Sequence, dict)) for one in outputs)
    return not isinstance(outputs, dict)


def _checked(value: Any) -> Any:
    try:
        return value if isinstance(value, Operation) else convert_to_tensor(value)
    except Exception as error:
        raise ValueError(
            "XLA computation function return values must all either be Operations or "
            f'convertible to Tensors. Got error: "{error}"'
        ) from error


def _flat(outputs: Any) -> tuple[list[Any], list[Any]]:
    """The tensors and the operations of a flat result; there is always an operation."""
    if outputs is None:
        outputs = ()
    if not isinstance(outputs, Sequence):
        outputs = (outputs,)
    found = [_checked(one) for one in (*outputs, no_op())]
    operations = [one for one in found if isinstance(one, Operation)]
    tensors = [one for one in found if not isinstance(one, Operation)]
    if found != [*tensors, *operations]:
        raise ValueError(
            "XLA computation function must return zero or more Tensor values followed "
            "by zero or more Operations."
        )
    return [_touched(one) for one in tensors], operations


def _nested(outputs: Any) -> list[Any]:
    """The tensors of a nested result."""
    found = []
    for one in nest.flatten(outputs):
        if isinstance(one, Operation):
            raise ValueError(
                "xla.compile does not support Operation as return value in non-flat "
                "output structure. You can set returned Operations as control "
                "dependencies of returned Tensors so Operations are triggered when "
                f'Tensors are evaluated. Operation found: "{one.name}"'
            )
        found.append(_touched(_checked(one)))
    return found


def _touched(tensor: Any) -> Any:
    """The tensor, made in the computation even if it only passes through."""
    with device(tensor.device or ""):
        return identity(tensor)


@export("contrib.compiler.xla.check_function_argument_count")
def check_function_argument_count(
    func: Callable[..., Any], input_arity: int, infeed_queue: Any
) -> str | None:
    """What is wrong with calling a function with so many arguments; None if nothing.

    Args:
      func: the function.
      input_arity: how many arguments the caller has.
      infeed_queue: has more of them, or None.
    """
    if infeed_queue is not None:
        input_arity += infeed_queue.number_of_tuple_elements
    spec = inspect.getfullargspec(func)
    most, defaults = len(spec.args), len(spec.defaults or ())

    def complain(how: str, count: int) -> str:
        return f"{how} {count} argument{'' if count == 1 else 's'}"

    if input_arity < most - defaults:
        is_fixed = defaults == 0 and spec.varargs is None
        return complain("exactly" if is_fixed else "at least", most - defaults)
    if spec.varargs is None and input_arity > most:
        return complain("at most" if defaults else "exactly", most)
    return None
