"""`tf.custom_gradient`: a function that says itself what its gradient is.

The results pass through an `IdentityN` whose gradient is the user's function; so do
the arguments and variables, which is how their gradients reach them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.captures import original_of_capture
from tensorloom.client.gradients.gradients import build_gradients
from tensorloom.client.variables.base_resource_variable import is_resource_variable
from tensorloom.client.variables.variable_scope import get_variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.runtime.scopes import control_dependencies, uid
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

_VARIABLE_OPS = frozenset(["VariableV2", "VarHandleOp"])


@export("custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that returns its result and its gradient function.

    Args:
      f: `f(*x) -> (y, grad_fn)`. `grad_fn(*dy)` gives the gradient of each x. If `f`
        uses variables, it is called as `grad_fn(*dy, variables=[...])` and gives
        (gradients of the xs, list of gradients of the variables).

    Returns:
      A function that gives `y`. It raises ValueError for keyword arguments, and
      TypeError when `f` uses variables that are not resource variables, or when
      `grad_fn` does not take `variables` although there are some.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments "
                "only when eager execution is enabled."
            )
        return _call(f, args)

    return decorated


def _call(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    name = f"CustomGradient-{uid()}"
    inputs = [convert_to_tensor(x) for x in args]
    before = set(map(id, _variables_in_scope()))
    result, grad_fn = f(*inputs)
    for variable in _variables_in_scope():
        if id(variable) not in before and not is_resource_variable(variable):
            raise TypeError(
                "All variables used by a function wrapped with @custom_gradient must "
                "be `ResourceVariable`s. Ensure that no `variable_scope` is created "
                "with `use_resource=False`."
            )
    variables = _variables_between(inputs, result)
    _check_signature(grad_fn, variables)
    flat = nest.flatten(result)
    RegisterGradient(name)(_gradient_function(grad_fn, len(flat), variables))
    with get_default_graph().gradient_override_map({"IdentityN": name}):
        outputs = identity_ops.identity_n([*flat, *inputs, *variables])
    return nest.pack_sequence_as(result, outputs[: len(flat)])


def _gradient_function(
    grad_fn: Callable[..., Any], results: int, variables: Sequence[Any]
) -> Callable[..., list[Any]]:
    """The gradient of the IdentityN over results, arguments and variables."""

    def gradient(op: Operation, *result_grads: Any) -> list[Any]:
        grads = result_grads[:results]
        variable_grads: Sequence[Any] = ()
        if variables:
            input_grads, variable_grads = grad_fn(*grads, variables=list(variables))
            if len(variable_grads) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient "
                    "grad_fn."
                )
        else:
            input_grads = grad_fn(*grads)
        return [None] * results + nest.flatten(input_grads) + list(variable_grads)

    return gradient


def _variables_in_scope() -> list[Any]:
    scope = get_variable_scope()
    return [*scope.global_variables(), *scope.local_variables()]


def _variables_between(inputs: Sequence[Tensor], result: Any) -> list[Any]:
    """The trainable variables that the result depends on beside the inputs."""
    outputs = nest.map_structure(identity_ops.identity, result)
    stop = {t.op for t in inputs}
    found: dict[str, None] = {}
    seen: set[Operation] = set()
    stack = [t.op for t in nest.flatten(outputs)]
    while stack:
        op = stack.pop()
        if op in seen or op in stop:
            continue
        seen.add(op)
        if op.type in _VARIABLE_OPS:
            found[op.name] = None
        stack.extend(original_of_capture(t).op for t in op.inputs)
    variables = [_variable_of(name) for name in sorted(found)]
    return [v for v in variables if v is not None]


def _variable_of(op_name: str) -> Any:
    """The trainable variable of an op, None for one that is not trainable.

    Raises:
      ValueError: no variable is known by the name.
    """
    named = [
        v
        for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
        if v.name == f"{op_name}:0"
    ]
    if not named:
        raise ValueError(f"Unsuccessful at finding variable {op_name}.")
    trainable = [v for v in named if v.trainable]
    return trainable[0] if trainable else None


def _check_signature(grad_fn: Callable[..., Any], variables: Sequence[Any]) -> None:
    spec = inspect.getfullargspec(grad_fn)
    takes = "variables" in (*spec.args, *spec.kwonlyargs) or spec.varkw is not None
    if variables and not takes:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then "
            "grad_fn must accept a keyword argument 'variables'."
        )
    if takes and not variables and not get_variable_scope().use_resource:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, the "
            "enclosing variable scope must have use_resource=True."
        )


@export("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like `f` that computes its inside again for the gradient.

    That costs a second forward computation and saves the memory of the first one's
    intermediate values. Gradients flow to the arguments and to the variables of `f`.
    """

    @custom_gradient
    def inner(*args: Any) -> Any:
        result = f(*args)

        def grad(*dresult: Any, variables: Any = None) -> Any:
            with control_dependencies(list(dresult)):
                # Copies, so that the two computations are told apart.
                copies = [identity_ops.identity(x) for x in args]
                again = f(*copies)
            wanted = [*copies, *(variables or ())]
            found = build_gradients(nest.flatten(again), wanted, list(dresult))
            if variables is None:
                return found
            return found[: len(args)], found[len(args) :]

        return result, grad

    return inner


@export("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the results of `f` and the gradient of an identity."""

    @custom_gradient
    @functools.wraps(f)
    def passed_through(*args: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            if variables is not None:
                return list(grads), [None] * len(variables)
            return list(grads)

        return f(*args), grad

    return passed_through
