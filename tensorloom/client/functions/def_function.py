"""`tf.function`: a Python function that becomes functions of the graph it is called in.

A call in a graph traces the Python function once for each combination of argument
dtypes, shapes and Python values, and adds a PartitionedCall node. AutoGraph converts
the Python code, so that `if`, `while` and `for` work on tensors.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.functions.concrete_function import ConcreteFunction, trace
from tensorloom.client.functions.signature_specs import (
    is_composite_spec,
    is_spec,
    is_tensor_spec,
    pack,
    tensor_specs,
    tensors_of,
)
from tensorloom.framework.export import export
from tensorloom.framework.functions.python_conversion import traced_function
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import nest, nest_shallow
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.framework.types.trackable import SavedFunctionBase

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph


@export("function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:
    """Makes a Python function one whose calls are single nodes of the graph.

    Args:
      func: the Python function; without it a decorator is returned.
      input_signature: a TensorSpec for each argument; all calls share one trace then.
      autograph: whether `if`, `while` and `for` over tensors become loops and
        conditionals of the graph.
      experimental_autograph_options: a `tf.autograph.experimental.Feature`, or a tuple
        of them, that the conversion is to have, too.
      experimental_relax_shapes, experimental_compile: accepted for compatibility.

    Returns:
      A callable that takes tensors, NumPy arrays and Python values, in structures too.

    Raises:
      TypeError: `input_signature` is not a sequence, or not of specs.
    """
    del experimental_relax_shapes, experimental_compile
    if input_signature is not None:
        _check_signature(input_signature)

    def decorated(inner: Callable[..., Any]) -> Function:
        traced = traced_function(inner, autograph, experimental_autograph_options)
        return Function(inner, input_signature, traced)

    return decorated if func is None else decorated(func)


def _check_signature(input_signature: Any) -> None:
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(
            "input_signature must be either a tuple or a list, received "
            f"{type(input_signature)}"
        )
    if not all(is_spec(s) for s in nest.flatten(input_signature)):
        raise TypeError(
            f"Invalid input_signature {input_signature}; input_signature must be a "
            "possibly nested sequence of TensorSpec objects."
        )


class Function(SavedFunctionBase):
    """What `tf.function` makes.

    Args:
      python_function: what is decorated.
      input_signature: a spec for each argument, or None.
      traced: what is called to trace it.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[Any] | None,
        traced: Callable[..., Any],
    ) -> None:
        self._python_function = python_function
        self._traced = traced
        self._name = getattr(python_function, "__name__", "function")
        self._input_signature = (
            None if input_signature is None else tuple(input_signature)
        )
        self._signature = inspect.signature(python_function)
        # A trace belongs to the graph around it: it captures that graph's tensors.
        self._traces: weakref.WeakKeyDictionary[Any, dict[Any, ConcreteFunction]] = (
            weakref.WeakKeyDictionary()
        )
        self._bound: weakref.WeakKeyDictionary[Any, Function] = (
            weakref.WeakKeyDictionary()
        )
        self._has_been_called = False
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function as it was given."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs of the arguments."""
        return self._input_signature

    @property
    def signature(self) -> inspect.Signature:
        """The arguments of the Python function; of a method without `self`."""
        return self._signature

    def __get__(self, instance: Any, owner: Any) -> Function:
        """The function as a method: each instance has its own traces."""
        if instance is None:
            return self
        bound = self._bound.get(instance)
        if bound is None:
            # The method must not keep its instance alive through the cache.
            reference, plain = weakref.ref(instance), self._python_function
            traced_plain = self._traced

            @functools.wraps(plain)
            def method(*args: Any, **kwargs: Any) -> Any:
                return plain(reference(), *args, **kwargs)

            def traced(*args: Any, **kwargs: Any) -> Any:
                return traced_plain(reference(), *args, **kwargs)

            bound = Function(method, self._input_signature, traced)
            bound._signature = inspect.signature(plain.__get__(instance, owner))
            self._bound[instance] = bound
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call to the default graph; gives what the Python function returns.

        Raises:
          ValueError: the arguments do not fit the signature, or a later trace makes
            variables.
          TypeError: there are too many arguments, or unknown ones.
        """
        values = self._canonical(args, kwargs)
        concrete, tensors = self._find(values)
        return concrete.call_flat(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments like these; TensorSpecs stand for tensors.

        Raises:
          ValueError: the arguments do not fit the signature.
        """
        if self._input_signature is not None and not args and not kwargs:
            args = self._input_signature
        return self._find(self._canonical(args, kwargs))[0]

    def concrete_functions_of_graph(self) -> list[ConcreteFunction]:
        """The traces that the default graph has; one of the signature is made."""
        if self._input_signature is not None:
            self.get_concrete_function()
        return list(self._traces.get(get_default_graph(), {}).values())

    def traces_elsewhere(self) -> list[ConcreteFunction]:
        """The traces that other graphs have, bodies of functions among them."""
        if self._input_signature is not None:
            return []
        default = get_default_graph()
        return [
            trace
            for graph, traces in list(self._traces.items())
            if graph is not default
            for trace in traces.values()
        ]

    # --- arguments ---------------------------------------------------------------

    def _canonical(self, args: Any, kwargs: Any) -> inspect.BoundArguments:
        if self._input_signature is not None and len(args) + len(kwargs) > len(
            self._input_signature
        ):
            raise TypeError(
                "When input_signature is provided, only pass arguments covered by it. "
                f"Received {len(args) + len(kwargs)} argument(s)."
            )
        bound = self._signature.bind(*args, **kwargs)
        if self._input_signature is None:
            bound.apply_defaults()
        return bound

    def _find(
        self, bound: inspect.BoundArguments
    ) -> tuple[ConcreteFunction, list[Tensor]]:
        """The trace for the arguments, made if there is none, and its tensors."""
        if self._input_signature is not None:
            leaves = self._leaves_of_signature(bound)
        else:
            leaves = [
                _to_leaf(leaf)
                for leaf in nest.flatten(_arguments(bound), expand_composites=True)
            ]
        graph = get_default_graph()
        traces = self._traces.setdefault(graph, {})
        key = self._key(bound, leaves)
        concrete = traces.get(key)
        if concrete is None:
            concrete = traces[key] = self._trace(bound, leaves)
        return concrete, [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def _leaves_of_signature(self, bound: inspect.BoundArguments) -> list[Any]:
        specs = nest.flatten(self._input_signature)
        given = self._flat_inputs(bound)
        leaves: list[Any] = []
        fits = len(given) == len(specs)
        for value, spec in zip(given, specs, strict=False):
            if is_composite_spec(spec):
                fits = fits and spec.is_compatible_with(value)
                # A spec stands for such a value where only a trace is wanted.
                is_value = fits and not is_spec(value)
                leaves += tensors_of(spec, value) if is_value else tensor_specs(spec)
                continue
            if not is_tensor_spec(value):
                value = convert_to_tensor(value, dtype_hint=spec.dtype)
            fits = (
                fits
                and value.dtype.base_dtype == spec.dtype
                and as_shape(spec.shape).is_compatible_with(value.shape)
            )
            leaves.append(value)
        if not fits:
            listed = ",\n".join(f"    {leaf}" for leaf in leaves)
            declared = ",\n".join(f"    {spec}" for spec in specs)
            raise ValueError(
                "Python inputs incompatible with input_signature:\n  inputs: (\n"
                f"{listed})\n  input_signature: (\n{declared})"
            )
        return leaves

    def _flat_inputs(self, bound: inspect.BoundArguments) -> list[Any]:
        """One value for each spec: a list where a tensor is due is one tensor."""
        values = tuple(bound.arguments[name] for name in bound.arguments)
        if len(bound.args) > len(values):  # of `*args`
            values = bound.args
        try:
            return nest_shallow.flatten_up_to(self._input_signature, values)
        except (ValueError, TypeError):
            return []

    def _key(self, bound: inspect.BoundArguments, leaves: list[Any]) -> Any:
        if self._input_signature is not None:
            return ()
        structure = nest.map_structure(
            lambda _: 0, _arguments(bound), expand_composites=True
        )
        return repr(structure), tuple(map(_leaf_key, leaves))

    # --- tracing -------------------------------------------------------------------

    def _trace(
        self, bound: inspect.BoundArguments, leaves: list[Any]
    ) -> ConcreteFunction:
        declared = self._declared(bound, leaves)
        tensor_names = [name for leaf, name in declared if _is_for_tensor(leaf)]

        def make_arguments(graph: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
            inside = [_argument_inside(graph, leaf, name) for leaf, name in declared]
            if self._input_signature is not None:
                return list(pack(self._input_signature, iter(inside))), {}
            packed = nest.pack_sequence_as(
                _arguments(bound), inside, expand_composites=True
            )
            return list(packed[0]), dict(packed[1])

        before = _variable_count()
        concrete = trace(self._name, make_arguments, self._traced, tensor_names)
        if _variable_count() > before and self._has_been_called:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first "
                "call."
            )
        if _variable_count() > before:
            # Once more: what a call does must not depend on its being the first.
            self._has_been_called = True
            return self._trace(bound, leaves)
        self._has_been_called = True
        return concrete

    def _declared(
        self, bound: inspect.BoundArguments, leaves: list[Any]
    ) -> list[tuple[Any, str]]:
        """What a trace has as arguments, flat, each with its name."""
        if self._input_signature is None:
            names = _leaf_names(bound)
        else:
            leaves, names = [], []
            parameters = list(self._signature.parameters)
            for position, argument in enumerate(self._input_signature):
                name = parameters[min(position, len(parameters) - 1)]
                for spec in nest.flatten(argument):
                    leaves += tensor_specs(spec)
                names += [name] * (len(leaves) - len(names))
        return [
            (leaf, leaf.name or name if is_tensor_spec(leaf) else name)
            for leaf, name in zip(leaves, names, strict=True)
        ]


class _Python:
    """A Python value among the arguments; traces are made for each value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _arguments(bound: inspect.BoundArguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return bound.args, bound.kwargs


def _to_leaf(value: Any) -> Any:
    if isinstance(value, (Tensor, CompositeTensor)) or is_tensor_spec(value):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return convert_to_tensor(value)
    return _Python(value)


def _is_for_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) or is_tensor_spec(leaf)


def _argument_inside(graph: FuncGraph, leaf: Any, name: str) -> Any:
    """What the Python function gets for a leaf when it is traced."""
    if _is_for_tensor(leaf):
        shape = as_shape(leaf.shape)
        handle_data = getattr(leaf, "_handle_data", None)
        return graph.add_argument(leaf.dtype, shape, name, handle_data)
    return leaf.value if isinstance(leaf, _Python) else leaf


def _leaf_key(leaf: Any) -> Any:
    if isinstance(leaf, _Python):
        try:
            hash(leaf.value)
        except TypeError:
            return "id", id(leaf.value)
        return type(leaf.value), leaf.value
    shape, name = as_shape(leaf.shape), None
    if not isinstance(leaf, Tensor):
        name = leaf.name  # that of the argument
    return leaf.dtype.base_dtype.name, shape.dims_tuple, name


def _leaf_names(bound: inspect.BoundArguments) -> list[str]:
    """A name for each leaf: that of the argument that it is part of."""
    parameters = list(bound.signature.parameters.values())
    names: list[str] = []
    for index, value in enumerate(bound.args):
        parameter = parameters[min(index, len(parameters) - 1)]
        leaves = nest.flatten(value, expand_composites=True)
        names += [parameter.name] * len(leaves)
    for key in sorted(bound.kwargs):
        leaves = nest.flatten(bound.kwargs[key], expand_composites=True)
        names += [key] * len(leaves)
    return names


def _variable_count() -> int:
    graph = get_default_graph()
    return len(graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)) + len(
        graph.get_collection_ref(GraphKeys.LOCAL_VARIABLES)
    )
