"""A `tf.function` of a SavedModel: calls find the trace that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.def_function import Function
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.variables.variables import Variable
from tensorloom.data.specs import TensorSpec
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import nest, nest_shallow
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.saved_model.objects.function_messages import from_argspec
from tensorloom.saved_model.objects.structure_coder import StructureCoder

if TYPE_CHECKING:
    from tensorloom.client.functions.concrete_function import ConcreteFunction
    from tensorloom.saved_model.objects.function_library import RestoredConcreteFunction


class RestoredFunction(Function):
    """A function of which there are only traces.

    Args:
      message: its `SavedFunction`.
      traces: its traces, in the order in which they are tried.
    """

    def __init__(self, message: Any, traces: list[RestoredConcreteFunction]) -> None:
        coder = StructureCoder()
        spec = message.function_spec
        arguments = coder.decode_proto(spec.fullargspec)
        signature = None
        if spec.HasField("input_signature"):
            signature = coder.decode_proto(spec.input_signature)

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            return _call(traces, args, kwargs)

        super().__init__(restored_function_body, signature, restored_function_body)
        self._signature = from_argspec(arguments, spec.is_method)
        self.concrete_functions = traces

    def concrete_functions_of_graph(self) -> list[ConcreteFunction]:
        """The traces of the file."""
        return list(self.concrete_functions)


def _call(traces: list[RestoredConcreteFunction], args: Any, kwargs: Any) -> Any:
    """Calls the first trace that takes the arguments as they are, or else converted.

    Raises:
      ValueError: there is none.
    """
    inputs = (tuple(args), kwargs)
    for converts in (False, True):
        for trace in traces:
            tensors = _tensors_for(trace, inputs, converts)
            if tensors is not None:
                result = trace.call_flat(tensors)
                return None if trace.structured_outputs is None else result
    options = [
        f"Option {number}:\n  {_positional(trace)}\n  Keyword arguments: "
        f"{(trace.structured_input_signature or (None, None))[1]}"
        for number, trace in enumerate(traces, 1)
    ]
    raise ValueError(
        "Could not find matching function to call loaded from the SavedModel. Got:\n  "
        f"{_listed(args)}\n  Keyword arguments: {kwargs}\n\nExpected these arguments "
        f"to match one of the following {len(traces)} option(s):\n\n"
        + "\n\n".join(options)
    )


def _positional(trace: RestoredConcreteFunction) -> str:
    if trace.problem is not None:
        return str(trace.problem)
    return _listed(trace.structured_input_signature[0])


def _listed(values: Any) -> str:
    lines = "\n    * ".join(map(str, values))
    return f"Positional arguments ({len(values)} total):\n    * {lines}"


def _tensors_for(
    trace: RestoredConcreteFunction, inputs: Any, converts: bool
) -> list[Tensor] | None:
    """The tensors that a trace gets for arguments; None if it does not take them."""
    expected = trace.structured_input_signature
    if expected is None:
        return None
    try:
        given = nest_shallow.flatten_up_to(expected, inputs)
        repacked = nest.pack_sequence_as(expected, given)
        nest.assert_same_structure(inputs, repacked, check_types=False)
    except (TypeError, ValueError):
        return None
    found: list[Tensor] = []
    for value, spec in zip(given, nest.flatten(expected), strict=True):
        parts = _parts_for(value, spec, converts)
        if parts is None:
            return None
        found += parts
    return found


def _parts_for(value: Any, spec: Any, converts: bool) -> list[Tensor] | None:
    if isinstance(spec, TensorSpec):
        return _tensor_for(value, spec, converts)
    if isinstance(spec, TypeSpec):
        if not spec.is_compatible_with(value):
            return None
        return nest.flatten(spec._to_components(value))
    if isinstance(value, Tensor | Variable):
        return None
    return [] if bool(value == spec) else None


def _tensor_for(value: Any, spec: TensorSpec, converts: bool) -> list[Tensor] | None:
    if not isinstance(value, Tensor | Variable):
        if not converts:
            return None
        try:
            # Not in the program's graph, for it may not fit.
            with FuncGraph("guess_conversion").as_default():
                guess = convert_to_tensor(value, dtype_hint=spec.dtype)
        except (TypeError, ValueError):
            return None
        if guess.dtype != spec.dtype or not spec.shape.is_compatible_with(guess.shape):
            return None
        return [convert_to_tensor(value, dtype_hint=spec.dtype)]
    if value.dtype.base_dtype != spec.dtype:
        return None
    if not spec.shape.is_compatible_with(value.shape):
        return None
    return [convert_to_tensor(value)]
