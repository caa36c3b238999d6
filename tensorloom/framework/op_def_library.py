"""`apply_op`: from an op's name and Python arguments to an operation of the graph.

Inputs are converted to tensors, attrs are inferred from them or checked, and errors
are TensorFlow's. Every op builder ends here.
"""

from __future__ import annotations

from collections import namedtuple
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import op_registry
from tensorloom.framework.attr_conversion import (
    check_allowed_type,
    check_attr,
    convert_attr,
)
from tensorloom.framework.default_stack import get_default_graph
from tensorloom.framework.scopes import graph_from_inputs
from tensorloom.framework.tensor import Tensor
from tensorloom.framework.tensor_conversion import (
    internal_convert_n_to_tensor,
    internal_convert_to_tensor,
)

if TYPE_CHECKING:
    from tensorloom.framework.dataflow_graph import Graph
    from tensorloom.framework.dtypes import DType
    from tensorloom.framework.op_registry import ArgDef, OpDef
    from tensorloom.framework.operation import Operation

_MISSING: Final = object()


class _Plan:
    """What `apply_op` works out once for an op."""

    __slots__ = (
        "_result_type",
        "defaults",
        "has_ref_inputs",
        "inputs",
        "name",
        "single_output",
        "structure",
    )

    def __init__(self, op_def: OpDef) -> None:
        self.inputs = op_def.inputs
        inferred = {a.type_attr for a in op_def.inputs}
        inferred |= {a.number_attr for a in op_def.inputs}
        inferred |= {a.type_list_attr for a in op_def.inputs}
        self.defaults = [
            (a.name, a) for a in op_def.attrs.values() if a.name not in inferred
        ]
        self.has_ref_inputs = any(a.is_ref for a in op_def.inputs)
        self.structure = op_def.outputs
        self.single_output = len(op_def.outputs) == 1 and not op_def.outputs[0].is_list
        self.name = op_def.name.lstrip("_")
        self._result_type: Any = None

    @property
    def result_type(self) -> Any:
        """What several outputs come in: a tuple with their names."""
        if self._result_type is None:
            names = [output.name for output in self.structure]
            make: Any = namedtuple
            self._result_type = make(self.name, names, rename=True)
        return self._result_type


def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
    """Adds an operation to the default graph (or to that of its inputs).

    Args:
      op_type_name: a registered op type.
      name: of the operation; the op type when None.
      keywords: the op's inputs and attrs by name. None for an attr means its default;
        an attr that is left out takes its default too.

    Returns:
      The Operation when the op has no outputs; its one output; a list for one output
      argument that is a list; a named tuple for several output arguments.

    Raises:
      TypeError, ValueError: as TensorFlow's builders do, for inputs that cannot be
        converted, dtypes that do not match or are not allowed, and bad attrs.
    """
    op = create_op(op_type_name, name, keywords)
    plan: _Plan = op._op_def.plan
    outputs = op._outputs
    if plan.single_output:
        return outputs[0]
    if not plan.structure:
        return op
    return _restructure(op, plan)


def create_op(
    op_type_name: str, name: str | None, keywords: dict[str, Any]
) -> Operation:
    """`apply_op` that returns the Operation. Empties `keywords`.

    Raises:
      RuntimeError: there is no such op.
      TypeError, ValueError: as `apply_op`.
    """
    op_def = op_registry.find(op_type_name)
    if op_def is None:
        raise RuntimeError(f"Unrecognized Op name {op_type_name}")
    plan = op_def.plan
    if plan is None:
        plan = op_def.plan = _Plan(op_def)
    if name is None:
        name = op_type_name
    # What is wrong with an attr by itself is told before the name is taken.
    given = _given_attrs(plan, keywords)
    graph = get_default_graph()
    fast = _collect_tensors(plan.inputs, keywords, graph)
    if fast is not None:
        attrs: dict[str, Any] = {}
        inferred: dict[str, str] = {}
        try:
            for arg, tensor in zip(plan.inputs, fast, strict=True):
                _infer_single(op_def, arg, tensor._dtype, attrs, inferred)
            _remaining_attrs(op_def, plan, keywords, given, attrs)
        except Exception:
            # The name is taken all the same, as by the name scope below.
            with graph.name_scope(name):
                raise
        return _add(graph, op_def, plan, fast, attrs, name)
    graph = graph_from_inputs(_flat_values(keywords))
    with ExitStack() as stack:
        if graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        scope = stack.enter_context(graph.name_scope(name))
        inputs, attrs = _convert_inputs(op_def, keywords)
        _remaining_attrs(op_def, plan, keywords, given, attrs)
        return _add(graph, op_def, plan, inputs, attrs, scope)


def _collect_tensors(
    args: tuple[ArgDef, ...], keywords: dict[str, Any], graph: Graph
) -> list[Tensor] | None:
    """The inputs, if each is one tensor of `graph` already; else None.

    Then no conversion can make operations, and no name scope is needed.
    """
    inputs = []
    for arg in args:
        value = keywords.get(arg.name)
        if (
            type(value) is not Tensor
            or value._op._graph is not graph
            or arg.is_list
            or (arg.type is not None and value._dtype.base_dtype is not arg.type)
        ):
            return None
        inputs.append(value)
    for arg in args:
        del keywords[arg.name]
    return inputs


def _flat_values(keywords: dict[str, Any]) -> list[Any]:
    values: list[Any] = []
    for value in keywords.values():
        if isinstance(value, list | tuple):
            values.extend(value)
        else:
            values.append(value)
    return values


def _pop(keywords: dict[str, Any], name: str) -> Any:
    """The value passed for `name`, or for `name_` (a Python keyword)."""
    value = keywords.pop(name, _MISSING)
    return keywords.pop(f"{name}_", _MISSING) if value is _MISSING else value


def _convert_inputs(
    op_def: OpDef, keywords: dict[str, Any]
) -> tuple[list[Tensor], dict[str, Any]]:
    attrs: dict[str, Any] = {}
    inferred: dict[str, str] = {}
    inputs: list[Tensor] = []
    for arg in op_def.inputs:
        value = _pop(keywords, arg.name)
        if value is _MISSING:
            raise TypeError(f"No argument for input {arg.name}")
        if arg.is_list:
            tensors = _convert_list(op_def, arg, value, attrs)
            _infer_list(op_def, arg, tensors, attrs, inferred)
            inputs.extend(tensors)
        else:
            tensor = _convert_single(op_def, arg, value, attrs, inferred)
            _infer_single(op_def, arg, tensor._dtype, attrs, inferred)
            inputs.append(tensor)
    return inputs, attrs


# --- one tensor ----------------------------------------------------------------


def _default_type(op_def: OpDef, arg: ArgDef) -> DType | None:
    attr = op_def.attrs.get(arg.type_attr)
    return attr.default if attr is not None and attr.has_default else None


def _convert_single(
    op_def: OpDef,
    arg: ArgDef,
    value: Any,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> Tensor:
    dtype = arg.type if arg.type is not None else attrs.get(arg.type_attr)
    preferred = None if dtype is not None else _default_type(op_def, arg)
    try:
        return internal_convert_to_tensor(value, dtype, arg.name, arg.is_ref, preferred)
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op "
            f"'{op_def.name}', got {value!r} of type '{type(value).__name__}' "
            f"instead. Error: {error}"
        ) from None
    except ValueError:
        raise _mismatch(op_def, arg, value, attrs, inferred) from None


def _mismatch(
    op_def: OpDef,
    arg: ArgDef,
    value: Any,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> Exception:
    """Says of which dtype the value is, and of which it should be."""
    try:
        observed = internal_convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
    except ValueError as error:
        return ValueError(
            f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}"
        )
    prefix = (
        f"Input '{arg.name}' of '{op_def.name}' Op has type {observed} that does not "
        "match"
    )
    if arg.type is not None:
        return TypeError(f"{prefix} expected type of {arg.type.name}.")
    default = _default_type(op_def, arg)
    wanted = attrs.get(arg.type_attr, default)
    origin = inferred.get(arg.type_attr, "Default in OpDef")
    return TypeError(
        f"{prefix} type {wanted.name if wanted else '?'} of argument '{origin}'."
    )


def _infer_single(
    op_def: OpDef,
    arg: ArgDef,
    dtype: DType,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    if arg.is_ref and not dtype._is_ref_dtype:
        raise TypeError(
            f"'{op_def.name}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    key = arg.type_attr
    if not key:
        return
    base = dtype.base_dtype
    known = attrs.get(key)
    if known is None:
        attr = op_def.attrs[key]
        if attr.allowed is not None and base not in attr.allowed:
            check_allowed_type(base, attr, arg.name)
        attrs[key] = base
        inferred[key] = arg.name
    elif known is not base:
        raise TypeError(
            f"Input '{arg.name}' of '{op_def.name}' Op has type {base.name} that does "
            f"not match type {known.name} of argument '{inferred[key]}'."
        )


# --- a list of tensors ------------------------------------------------------------


def _convert_list(
    op_def: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]
) -> list[Tensor]:
    if not isinstance(values, list | tuple):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{op_def.name}' Op, "
            f"not {values}."
        )
    dtype: DType | None = arg.type
    preferred: DType | None = None
    if dtype is None and arg.number_attr:
        dtype = attrs.get(arg.type_attr)
        if dtype is None:
            dtype = next((v.dtype for v in values if isinstance(v, Tensor)), None)
        if dtype is None:
            preferred = _default_type(op_def, arg)
    if dtype is not None and not arg.is_ref:
        dtype = dtype.base_dtype
    try:
        tensors = internal_convert_n_to_tensor(
            values, dtype, arg.name, arg.is_ref, preferred
        )
        if arg.number_attr and len({t.dtype.base_dtype for t in tensors}) > 1:
            raise TypeError("All types should match.")
    except (TypeError, ValueError):
        raise _list_error(op_def, arg, values, dtype, attrs) from None
    return tensors


def _list_error(
    op_def: OpDef,
    arg: ArgDef,
    values: Any,
    dtype: DType | None,
    attrs: dict[str, Any],
) -> TypeError:
    observed = []
    for value in values:
        try:
            tensor = internal_convert_to_tensor(value, as_ref=arg.is_ref)
            observed.append(tensor.dtype.base_dtype.name)
        except (TypeError, ValueError):
            observed.append("<NOT CONVERTIBLE TO TENSOR>")
    prefix = (
        f"Tensors in list passed to '{arg.name}' of '{op_def.name}' Op have types "
        f"[{', '.join(observed)}]"
    )
    if not arg.number_attr:
        return TypeError(f"{prefix} that are invalid. Tensors: {values}")
    if arg.type is not None:
        return TypeError(f"{prefix} that do not match expected type {arg.type.name}.")
    if arg.type_attr in attrs and dtype is not None:
        return TypeError(
            f"{prefix} that do not match type {dtype.name} inferred from earlier "
            "arguments."
        )
    return TypeError(f"{prefix} that don't all match.")


def _infer_list(
    op_def: OpDef,
    arg: ArgDef,
    tensors: list[Tensor],
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    if arg.is_ref and not all(t.dtype._is_ref_dtype for t in tensors):
        raise TypeError(
            f"'{op_def.name}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    types = [t.dtype.base_dtype for t in tensors]
    if arg.number_attr:
        _infer_number(op_def, arg, len(tensors), attrs, inferred)
        if arg.type_attr:
            _infer_number_type(op_def, arg, types, attrs, inferred)
    elif arg.type_list_attr:
        _infer_type_list(op_def, arg, types, attrs, inferred)


def _infer_number(
    op_def: OpDef,
    arg: ArgDef,
    count: int,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    key = arg.number_attr
    prefix = f"List argument '{arg.name}' to '{op_def.name}' Op with length {count}"
    if key in attrs:
        if attrs[key] != count:
            raise ValueError(
                f"{prefix} must match length {attrs[key]} of argument "
                f"'{inferred[key]}'."
            )
        return
    minimum = op_def.attrs[key].minimum
    if minimum is not None and count < minimum:
        raise ValueError(f"{prefix} shorter than minimum length {minimum}.")
    attrs[key] = count
    inferred[key] = arg.name


def _infer_number_type(
    op_def: OpDef,
    arg: ArgDef,
    types: list[DType],
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    if arg.type_attr in attrs:
        return
    if not types:
        raise TypeError(
            "Don't know how to infer type variable from empty input list passed to "
            f"input '{arg.name}' of '{op_def.name}' Op."
        )
    check_allowed_type(types[0], op_def.attrs[arg.type_attr], arg.name)
    attrs[arg.type_attr] = types[0]
    inferred[arg.type_attr] = arg.name


def _infer_type_list(
    op_def: OpDef,
    arg: ArgDef,
    types: list[DType],
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    key = arg.type_list_attr
    attr = op_def.attrs[key]
    known = attrs.get(key)
    if known is not None:
        if known != types:
            raise TypeError(
                f"Input '{arg.name}' of '{op_def.name}' Op has type list of "
                f"{', '.join(t.name for t in types)} that does not match type list "
                f"{', '.join(t.name for t in known)} of argument '{inferred[key]}'."
            )
        return
    for dtype in types:
        check_allowed_type(dtype, attr, arg.name)
    if attr.minimum is not None and len(types) < attr.minimum:
        raise ValueError(
            f"List argument '{arg.name}' to '{op_def.name}' Op with length "
            f"{len(types)} shorter than minimum length {attr.minimum}."
        )
    attrs[key] = types
    inferred[key] = arg.name


# --- attrs and outputs ---------------------------------------------------------------


def _given_attrs(plan: _Plan, keywords: dict[str, Any]) -> dict[str, Any]:
    """Takes the attrs that no input tells out of `keywords`, and converts them."""
    given: dict[str, Any] = {}
    for name, attr in plan.defaults:
        value = _pop(keywords, name)
        if value is not _MISSING:
            given[name] = convert_attr(attr, value)
    return given


def _remaining_attrs(
    op_def: OpDef,
    plan: _Plan,
    keywords: dict[str, Any],
    given: dict[str, Any],
    attrs: dict[str, Any],
) -> None:
    """Adds the attrs that no input tells, and refuses what is left over."""
    for name, attr in plan.defaults:
        if name in given:
            check_attr(attr, given[name], op_def.name)
            attrs[name] = given[name]
        elif attr.has_default:
            attrs[name] = attr.default
        else:
            raise TypeError(f"No argument for attr {attr.name}")
    if keywords:
        for name in keywords:
            if name in attrs:
                raise TypeError(f"Should not specify value for inferred attr '{name}'.")
        raise TypeError(
            "apply_op() got unexpected keyword arguments: "
            + ", ".join(sorted(keywords))
        )


def _add(
    graph: Graph,
    op_def: OpDef,
    plan: _Plan,
    inputs: list[Tensor],
    attrs: dict[str, Any],
    name: str,
) -> Operation:
    if not plan.has_ref_inputs:
        return graph.add_operation(op_def, inputs, attrs, name)
    # An op that writes through a reference runs where the variable is.
    with ExitStack() as stack:
        for arg, tensor in zip(op_def.inputs, inputs, strict=False):
            if arg.is_ref:
                stack.enter_context(graph.colocate_with(tensor.op))
        return graph.add_operation(op_def, inputs, attrs, name)


def _restructure(op: Operation, plan: _Plan) -> Any:
    """The outputs by output argument: a list for each list argument."""
    outputs = list(op._outputs)
    results: list[Any] = []
    position = 0
    for arg in plan.structure:
        if not arg.is_list:
            results.append(outputs[position])
            position += 1
            continue
        count = len(op_registry.arg_types(arg, op._attrs))
        results.append(outputs[position : position + count])
        position += count
    if len(results) > 1:
        return plan.result_type._make(results)
    if not results[0] and op._op_def.is_stateful:
        return op
    return results[0]
