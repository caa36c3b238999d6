"""The op definition of a function: a node may name a function as its op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import ArgDef, AttrDef, OpDef
from tensorloom.framework.registry.shape_inference import unknown_shapes

if TYPE_CHECKING:
    from tensorloom.framework.functions.function_problem import FunctionProblem
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.types.dtypes import DType


def signature_of(function: FunctionIR) -> OpDef | FunctionProblem:
    """The OpDef of calls to `function`, or why nobody can tell."""
    problem = function.problem
    if problem is not None and not problem.has_signature:
        signature = problem.signature
        return replace(signature, name=function.name) if signature else problem
    return op_def_of(function)


def op_def_of(function: FunctionIR) -> OpDef:
    """The OpDef of calls to `function`: inputs and outputs of fixed dtypes."""
    return call_of(
        function.name,
        _args(function.arg_names, function.arg_types),
        _args(function.output_names, function.output_types),
        function.is_stateful,
    )


def _args(names: Sequence[str], types: Sequence[DType]) -> tuple[ArgDef, ...]:
    return tuple(map(ArgDef, names, types))


def call_of(
    name: str,
    inputs: tuple[ArgDef, ...],
    outputs: tuple[ArgDef, ...],
    is_stateful: bool,
    attrs: dict[str, AttrDef] | None = None,
) -> OpDef:
    """The OpDef of calls to a function: its shapes are in its body."""
    return OpDef(
        name=name,
        inputs=inputs,
        outputs=outputs,
        attrs=attrs or {},
        shape_fn=unknown_shapes,
        gradient=None,
        is_stateful=is_stateful,
        doc="A call of a function of the graph.",
    )
