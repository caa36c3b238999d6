"""What a SavedModel says of functions: their Python arguments, traces and captures."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_values
from tensorloom.data.specs import TensorSpec, spec_of_value
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import nest, nest_shallow
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.saved_model.objects.structure_coder import StructureCoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.client.functions.concrete_function import ConcreteFunction
    from tensorloom.client.functions.def_function import Function

_KIND = inspect.Parameter


def argument_specs(concrete: ConcreteFunction) -> list[TensorSpec]:
    """The specs of the arguments of a trace, in order, captures apart."""
    return [
        TensorSpec(argument.shape, argument.dtype, name)
        for argument, name in zip(
            concrete.inputs, concrete.argument_names, strict=False
        )
    ]


def input_signature(concrete: ConcreteFunction) -> Any:
    """(positional, by keyword): specs in the place of tensors."""
    names = dict(zip(concrete.inputs, concrete.argument_names, strict=False))

    def spec(value: Any) -> Any:
        if isinstance(value, Tensor):
            return TensorSpec(value.shape, value.dtype, names.get(value))
        return spec_of_value(value) if isinstance(value, CompositeTensor) else value

    return nest.map_structure(spec, concrete.structured_input_signature)


def output_signature(concrete: ConcreteFunction) -> Any:
    """The structure of the results: specs in the place of tensors."""

    def spec(path: tuple[Any, ...], value: Any) -> Any:
        if isinstance(value, Tensor):
            name = "/".join(map(str, path))
            return TensorSpec(value.shape, value.dtype, name or None)
        if isinstance(value, CompositeTensor) or control_flow_values.is_tensor_array(
            value
        ):
            return spec_of_value(value)
        return value

    structure = concrete.structured_outputs
    flat = nest_shallow.flatten_with_tuple_paths(structure)
    made = [spec(path, value) for path, value in flat]
    return nest.pack_sequence_as(structure, made)


def concrete_message(concrete: ConcreteFunction, numbers: Mapping[int, int]) -> Any:
    """The `SavedConcreteFunction` of a trace.

    Args:
      numbers: those of the nodes that captured tensors belong to, by `id` of the
        tensors.

    Raises:
      KeyError: it captures a tensor of no object.
    """
    from tensorloom.protos import saved_object_graph_pb2

    proto = saved_object_graph_pb2.SavedConcreteFunction()
    for tensor in concrete.captured_inputs:
        if id(tensor) not in numbers:
            raise KeyError(
                f"Failed to add concrete function {concrete.name!r} to object based "
                f"saved model as it captures tensor {tensor!r} which is unsupported or "
                "not reachable from root. One reason could be that a stateful object "
                "or a variable that the function depends on is not assigned to an "
                "attribute of the serialized trackable object."
            )
        proto.bound_inputs.append(numbers[id(tensor)])
    coder = StructureCoder()
    signature = coder.encode_structure(input_signature(concrete))
    proto.canonicalized_input_signature.CopyFrom(signature)
    outputs = coder.encode_structure(output_signature(concrete))
    proto.output_signature.CopyFrom(outputs)
    return proto


def bare_message(concrete: ConcreteFunction) -> Any:
    """The `SavedBareConcreteFunction` of a trace that is an attribute itself."""
    from tensorloom.protos import saved_object_graph_pb2

    return saved_object_graph_pb2.SavedBareConcreteFunction(
        concrete_function_name=concrete.name.decode(),
        allowed_positional_arguments=concrete._num_positional_args,
        argument_keywords=concrete.argument_names,
    )


def function_message(function: Function, traces: list[ConcreteFunction]) -> Any:
    """The `SavedFunction` of a function with its traces."""
    from tensorloom.protos import saved_object_graph_pb2

    proto = saved_object_graph_pb2.SavedFunction()
    coder = StructureCoder()
    spec = proto.function_spec
    arguments = to_argspec(function.signature)
    spec.fullargspec.CopyFrom(coder.encode_structure(arguments))
    signature = coder.encode_structure(function.input_signature)
    spec.input_signature.CopyFrom(signature)
    proto.concrete_functions.extend(one.name.decode() for one in traces)
    return proto


def to_argspec(signature: inspect.Signature) -> inspect.FullArgSpec:
    """A signature as what files have of it; annotations are left out."""
    by_kind: dict[Any, list[inspect.Parameter]] = {}
    for parameter in signature.parameters.values():
        kind = parameter.kind
        if kind is _KIND.POSITIONAL_ONLY:
            kind = _KIND.POSITIONAL_OR_KEYWORD
        by_kind.setdefault(kind, []).append(parameter)
    positional = by_kind.get(_KIND.POSITIONAL_OR_KEYWORD, [])
    keyword = by_kind.get(_KIND.KEYWORD_ONLY, [])
    varargs = [one.name for one in by_kind.get(_KIND.VAR_POSITIONAL, [])]
    varkw = [one.name for one in by_kind.get(_KIND.VAR_KEYWORD, [])]
    defaults = tuple(p.default for p in positional if p.default is not p.empty)
    named = {p.name: p.default for p in keyword if p.default is not p.empty}
    return inspect.FullArgSpec(
        args=[one.name for one in positional],
        varargs=varargs[0] if varargs else None,
        varkw=varkw[0] if varkw else None,
        defaults=defaults or None,
        kwonlyargs=[one.name for one in keyword],
        kwonlydefaults=named or None,
        annotations={},
    )


def from_argspec(arguments: Any, is_method: bool) -> inspect.Signature:
    """The signature that a file has of a function, without `self`.

    Raises:
      NotImplementedError: a method has no named `self`.
    """
    if is_method and not arguments.args:
        raise NotImplementedError(
            "Missing support to deserialize a method function without a named 'self' "
            "argument."
        )
    defaults = list(arguments.defaults or ())
    without = len(arguments.args) - len(defaults)
    values = [_KIND.empty] * without + defaults
    parameters = [
        _KIND(name, _KIND.POSITIONAL_OR_KEYWORD, default=value)
        for name, value in zip(arguments.args, values, strict=True)
    ][1 if is_method else 0 :]
    if arguments.varargs:
        parameters.append(_KIND(arguments.varargs, _KIND.VAR_POSITIONAL))
    named = arguments.kwonlydefaults or {}
    parameters += [
        _KIND(name, _KIND.KEYWORD_ONLY, default=named.get(name, _KIND.empty))
        for name in arguments.kwonlyargs
    ]
    if arguments.varkw:
        parameters.append(_KIND(arguments.varkw, _KIND.VAR_KEYWORD))
    return inspect.Signature(parameters)
