"""`Defun`: a Python function as a function of the graph's library."""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.functions.called_functions import functions_named
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.dtypes import DType


# What a call may say beside its arguments and its name.
_CALL_OPTIONS: Final = frozenset(
    ["noinline", "compiled", "separate_compiled_gradients"]
)


class Defun:
    """Decorator that makes a Python function a function of the graph.

    The function's body is built once; each call adds one node, whose op is the
    function. Tensors from outside that the body uses become further arguments.

    Args:
      *input_types: the dtypes of the arguments; without them a function is made for
        each combination of dtypes that it is called with.
      func_name: its name in the library; derived from the Python name by default.
      grad_func: another `Defun` function, which maps (arguments, gradients of the
        results) to the gradients of the arguments.
      python_grad_func: a gradient function `f(op, *grads)` as for RegisterGradient.
      out_names: names of the results.
      shape_func: maps the calling operation to the shapes of its outputs.
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._input_types = [dtypes.as_dtype(t) for t in input_types]
        self._options = kwargs

    def __call__(
        self, func: Callable[..., Any]
    ) -> DefinedFunction | OverloadedFunction:
        """The function.

        Raises:
          ValueError: it cannot be called, has defaults or keyword arguments, or takes
            another number of arguments than there are input types.
        """
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults:
            raise ValueError(
                "function with argument defaults or keywords arguments are not "
                f"supported. {func} has defaults {spec.defaults} and keywords "
                f"{spec.varkw}."
            )
        names = spec.args[1:] if inspect.ismethod(func) else spec.args
        count = len(self._input_types)
        if not count and (names or spec.varargs):
            return OverloadedFunction(func, names, self._options)
        if count < len(names) or (count > len(names) and not spec.varargs):
            raise ValueError(
                "The function has fewer arguments than the number of specified input "
                "types."
            )
        return DefinedFunction(func, names, self._input_types, self._options)


class DefinedFunction:
    """A function with arguments of known dtypes."""

    def __init__(
        self,
        func: Callable[..., Any],
        arg_names: Sequence[str],
        input_types: Sequence[DType],
        options: dict[str, Any],
    ) -> None:
        self._func = func
        self._arg_names = list(arg_names)
        self._input_types = list(input_types)
        self._name: str | None = options.get("func_name")
        self._grad_func = options.get("grad_func")
        self._python_grad_func = options.get("python_grad_func")
        self._out_names = options.get("out_names")
        self._shape_func = options.get("shape_func")
        self._graph: FuncGraph | None = None
        # What calls pass beside the arguments, if not what the body captured.
        self._captured: list[Tensor] | None = None
        self._function: FunctionIR | None = None
        # The function, and those that its body calls.
        self._library: dict[str, FunctionIR] = {}

    @property
    def name(self) -> str:
        """The name in the library."""
        return self._definition().name

    @property
    def definition(self) -> Any:
        """The function as a `FunctionDef` proto."""
        from tensorloom.framework.functions import function_def

        function = self._definition()
        return function_def.to_proto(function, self._library)

    @property
    def declared_input_types(self) -> tuple[DType, ...]:
        """The dtypes of the arguments."""
        return tuple(self._input_types)

    @property
    def grad_func_name(self) -> str | None:
        """The name of the gradient function, if there is one."""
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        """The Python gradient function, if there is one."""
        return self._python_grad_func

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside that calls pass beside the arguments."""
        self._definition()
        assert self._graph is not None
        captured = self._captured
        return self._graph.external_captures if captured is None else captured

    def with_captures_as_arguments(self) -> DefinedFunction:
        """The same function, but what it captures is given to it as last arguments."""
        pure = copy.copy(self)
        types = [tensor.dtype for tensor in self.captured_inputs]
        pure._input_types = [*self._input_types, *types]
        pure._captured = []
        return pure

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """(name, type) of the stateful operations of the body."""
        self._definition()
        assert self._graph is not None
        return [(o.name, o.type) for o in self._graph._operations if o._is_stateful]

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """Makes another function the gradient function of this one."""
        assert self._grad_func is None or self._grad_func is grad_func
        self._grad_func = grad_func

    def _definition(self) -> FunctionIR:
        """The function, built when it is first asked for."""
        if self._function is None:
            graph = self._graph = FuncGraph(self._name or self._func.__name__)
            graph.builds_classic = True
            graph.seed = None  # as in TensorFlow, the seed outside says nothing here
            with graph.as_default():
                arguments = [
                    graph.add_argument(dtype, TensorShape.of(None), name)
                    for dtype, name in zip(
                        self._input_types, self._names_of_arguments(), strict=True
                    )
                ]
                graph.outputs = _to_outputs(graph, self._func(*arguments))
            function = self._finish(graph)
            known = {**graph.functions, function.name: function}
            self._library = functions_named([function.name], known)
            self._function = function
        return self._function

    def _names_of_arguments(self) -> list[str]:
        extra = len(self._input_types) - len(self._arg_names)
        return [*self._arg_names, *(f"arg{i}" for i in range(extra))]

    def _finish(self, graph: FuncGraph) -> FunctionIR:
        function = graph.to_function(keep_stateful=True)
        if self._out_names is not None:
            if len(self._out_names) != len(graph.outputs):
                raise ValueError(
                    "output names must be either empty or equal in size to outputs. "
                    f"output names size = {len(self._out_names)} outputs size = "
                    f"{len(graph.outputs)}"
                )
            function.output_names = tuple(self._out_names)
        if self._name is None:
            function.name = f"{self._func.__name__}_{_digest(function)}"
        if self._grad_func is not None:
            function.gradient = self._grad_func.name
        return function

    def add_to_graph(self, graph: Any) -> None:
        """Adds the function to the library of a graph."""
        self._definition()
        for function in self._library.values():
            graph.add_function(function)
        if self._grad_func is not None:
            self._grad_func.add_to_graph(graph)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call to the default graph.

        Args:
          name: of the node; the function's name by default.
          noinline: a hint for the runtime.

        Returns:
          The result, a tuple of several results, or the Operation if there are none.

        Raises:
          ValueError: the number of arguments is not right.
        """
        graph = get_default_graph()
        self.add_to_graph(graph)
        function = self._definition()
        if len(args) != len(self._input_types):
            raise ValueError(
                f"Expected number of arguments: {len(self._input_types)}, received: "
                f"{len(args)}"
            )
        name = kwargs.pop("name", None)
        unknown = {k for k in kwargs if not k.startswith("experimental_")}
        unknown -= _CALL_OPTIONS
        if unknown:
            raise ValueError(f"Unknown keyword arguments: {', '.join(sorted(unknown))}")
        attrs = {f"_{key}": value for key, value in kwargs.items() if value is not None}
        inputs = [
            convert_to_tensor(value, dtype=dtype)
            for value, dtype in zip(args, self._input_types, strict=True)
        ]
        op = graph.create_op(
            function.name,
            [*inputs, *self.captured_inputs],
            name=name or function.name,
            attrs=attrs,
        )
        # Of this call alone: functions of equal bodies have one name in the library.
        op._python_gradient = self._python_grad_func
        if self._shape_func is not None:
            for tensor, shape in zip(op.outputs, self._shape_func(op), strict=True):
                tensor.set_shape(shape)
        if not op.outputs:
            return op
        return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


class OverloadedFunction:
    """A function that is built anew for each combination of argument dtypes."""

    def __init__(
        self,
        func: Callable[..., Any],
        arg_names: Sequence[str],
        options: dict[str, Any],
    ) -> None:
        self._func = func
        self._arg_names = arg_names
        self._options = options
        self._by_types: dict[tuple[DType, ...], DefinedFunction] = {}

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside; known once the function was called."""
        return next(iter(self._by_types.values())).captured_inputs

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The function for arguments of these dtypes."""
        key = tuple(dtypes.as_dtype(t).base_dtype for t in input_types)
        found = self._by_types.get(key)
        if found is None:
            options = dict(self._options)
            if options.get("func_name") is not None and self._by_types:
                options["func_name"] += "".join(f"_{t.name}" for t in key)
            found = DefinedFunction(self._func, self._arg_names, key, options)
            self._by_types[key] = found
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call to the default graph; see `DefinedFunction`."""
        inputs = [convert_to_tensor(a) for a in args]
        return self.instantiate([t.dtype for t in inputs])(*inputs, **kwargs)


def _to_outputs(graph: FuncGraph, result: Any) -> list[Tensor]:
    if result is None:
        return []
    values = result if isinstance(result, (list, tuple)) else [result]
    if any(value is None for value in values):
        raise ValueError("Function can not return None.")
    return [graph.capture(convert_to_tensor(value)) for value in values]


def _digest(function: FunctionIR) -> str:
    """Eight hex digits that tell bodies apart."""
    text = hashlib.sha1(usedforsecurity=False)
    text.update(repr((function.arg_types, function.output_types)).encode())
    for node in function.nodes.values():
        attrs = {k: str(v) for k, v in sorted(node.attrs.items())}
        text.update(repr((node.name, node.op, node.inputs, attrs)).encode())
    return text.hexdigest()[:8]
