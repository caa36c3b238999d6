"""`tf.py_func`: a Python function as an op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.functions import py_functions
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import unknown_shapes

register_op(
    "EagerPyFunc",
    inputs=["input: Tin"],
    outputs=["output: Tout"],
    attrs=[
        "token: string",
        "is_async: bool = false",
        "Tin: list(type) >= 0",
        "Tout: list(type) >= 0",
    ],
    shape_fn=unknown_shapes,
    stateful=True,
    doc="Calls a Python function of this process over tensors that have values.",
)

for _name, _stateful in (("PyFunc", True), ("PyFuncStateless", False)):
    register_op(
        _name,
        inputs=["input: Tin"],
        outputs=["output: Tout"],
        attrs=["token: string", "Tin: list(type) >= 0", "Tout: list(type) >= 0"],
        shape_fn=unknown_shapes,
        gradient=NOT_DIFFERENTIABLE,
        stateful=_stateful,
        doc="Calls a Python function of this process over NumPy arrays.",
    )


def keep(graph: Any, function: Callable[..., Any]) -> None:
    """Lets a function live as long as the outermost graph that calls it."""
    while graph.building_function:
        graph = graph.outer_graph
    if not hasattr(graph, "_py_funcs_used_in_graph"):
        graph._py_funcs_used_in_graph = []
    graph._py_funcs_used_in_graph.append(function)


def _py_func(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool, name: str | None
) -> Any:
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    is_list = isinstance(Tout, list | tuple)
    token = py_functions.insert(func)
    keep(get_default_graph(), func)
    result = apply_op(
        "PyFunc" if stateful else "PyFuncStateless",
        input=list(inp),
        token=token,
        Tout=list(Tout) if is_list else [Tout],
        name=name,
    )
    return result if is_list else result[0]


@export("py_func")
def py_func(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """An op that calls a Python function over NumPy arrays. Not differentiable.

    Args:
      func: gets an array for each input; returns an array or a list of arrays.
      inp: tensors.
      Tout: the dtype, or the list of dtypes, that the function returns.
      stateful: False when equal inputs always give equal outputs.
      name: of the op.

    Returns:
      A tensor, or a list of tensors when `Tout` is a list; of unknown shape.

    Raises:
      ValueError: `func` is not callable.
    """
    return _py_func(func, inp, Tout, stateful, name)


@export("numpy_function")
def numpy_function(
    func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None
) -> Any:
    """`py_func` that is always taken to be stateful."""
    return _py_func(func, inp, Tout, True, name)
