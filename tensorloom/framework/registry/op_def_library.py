"""`apply_op`: from an op's name and Python arguments to an operation of the graph.

Inputs are converted to tensors, attrs are inferred from them or checked, and errors
are TensorFlow's. Every op builder ends here.
"""

from __future__ import annotations

from collections import namedtuple
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_inputs import (
    MISSING,
    convert_inputs,
    infer_single,
    pop,
)
from tensorloom.framework.runtime.scopes import graph_from_inputs
from tensorloom.framework.types.attr_conversion import check_attr, convert_attr

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.registry.op_registry import ArgDef, OpDef


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
      NotImplementedError: graphs of this version have no such op any more.
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
    graph = get_default_graph()
    if op_def.deprecated is not None and (
        message := op_def.removal_message(graph._producer)
    ):
        raise NotImplementedError(message)
    # Errors in single attrs are raised before the node's name is taken.
    given = _given_attrs(plan, keywords)
    fast = _collect_tensors(plan.inputs, keywords, graph)
    if fast is not None:
        attrs: dict[str, Any] = {}
        inferred: dict[str, str] = {}
        try:
            for arg, tensor in zip(plan.inputs, fast, strict=True):
                infer_single(op_def, arg, tensor._dtype, attrs, inferred)
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
        inputs, attrs = convert_inputs(op_def, keywords)
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


# --- attrs and outputs ---------------------------------------------------------------


def _given_attrs(plan: _Plan, keywords: dict[str, Any]) -> dict[str, Any]:
    """Takes the attrs that no input tells out of `keywords`, and converts them."""
    given: dict[str, Any] = {}
    for name, attr in plan.defaults:
        value = pop(keywords, name)
        if value is not MISSING:
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
