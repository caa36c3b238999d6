"""Functions of a library as `Defun` functions, and what a body captures so far.

`tensorflow.python.framework.function` has them for libraries that copy functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.functions.function import DefinedFunction
from tensorloom.framework.functions import function_def
from tensorloom.framework.functions.function_op_def import signature_of
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.tensor import Tensor


class LibraryFunction(DefinedFunction):
    """A function whose body is that of a `FunctionDef`."""

    def __init__(
        self,
        fdef: Any,
        grad_func: DefinedFunction | None = None,
        known: Mapping[str, FunctionIR] | None = None,
    ) -> None:
        """Makes the function.

        Args:
          fdef: the `FunctionDef`.
          grad_func: its gradient function.
          known: the functions that it may call.

        """
        signatures = {
            name: signature_of(function) for name, function in (known or {}).items()
        }
        name = fdef.signature.name
        signatures.setdefault(name, function_def.signature_from_proto(fdef))
        gradient = grad_func.name if grad_func is not None else ""
        function = function_def.from_proto(fdef, signatures, gradient)
        arguments = fdef.signature.input_arg
        super().__init__(
            _no_body,
            [argument.name for argument in arguments],
            [dtypes.as_dtype(argument.type) for argument in arguments],
            {"func_name": name, "grad_func": grad_func},
        )
        self._fdef = fdef
        self._function = function
        self._library = {**(known or {}), name: function}

    @property
    def name(self) -> str:
        """The name in the library."""
        return str(self._fdef.signature.name)

    def _definition(self) -> FunctionIR:
        """The function. Raises errors.OpError if it cannot be called."""
        function = super()._definition()
        function.check()
        return function

    @property
    def definition(self) -> Any:
        """The function as the `FunctionDef` that it was made of."""
        return self._fdef

    @property
    def captured_inputs(self) -> list[Tensor]:
        """None: what the body captured once is an argument now."""
        return []


def _no_body() -> None:
    raise AssertionError("the body of a library's function is there already")


def from_definition(
    fdef: Any, grad_func: DefinedFunction | None = None
) -> LibraryFunction:
    """The function of a `FunctionDef`; calls to it fail if it cannot be called."""
    return LibraryFunction(fdef, grad_func)


def from_library(lib: Any) -> list[LibraryFunction]:
    """The functions of a `FunctionDefLibrary`, with their gradient functions.

    Raises:
      ValueError: a gradient names a function that is not there, or gradient functions
        form a cycle.
    """
    from tensorloom.framework.graph.graph_def import functions_from_proto

    definitions = {fdef.signature.name: fdef for fdef in lib.function}
    gradients = {each.function_name: each.gradient_func for each in lib.gradient}
    for pair in gradients.items():
        for name in pair:
            if name not in definitions:
                raise ValueError(
                    f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}"
                )
    known = functions_from_proto(lib)
    made: dict[str, LibraryFunction] = {}
    waiting = dict(definitions)
    while waiting:
        ready = [name for name in waiting if gradients.get(name, "") not in waiting]
        if not ready:
            raise ValueError(
                f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}"
            )
        for name in ready:
            grad_func = made.get(gradients.get(name, ""))
            made[name] = LibraryFunction(waiting.pop(name), grad_func, known)
    return list(made.values())


def get_extra_inputs() -> list[Tensor]:
    """The tensors from outside that the body being built has used so far."""
    graph = get_default_graph()
    return list(graph.external_captures) if isinstance(graph, FuncGraph) else []


def get_extra_args() -> list[Tensor]:
    """What stands for them in the body."""
    graph = get_default_graph()
    if not isinstance(graph, FuncGraph):
        return []
    return [graph.capture(tensor) for tensor in graph.external_captures]


def get_extra_vars() -> list[Any]:
    """The variables that the body being built has made so far."""
    graph = get_default_graph()
    if not isinstance(graph, FuncGraph):
        return []
    return [v for v in graph.get_collection("variables") if v.graph is graph]
