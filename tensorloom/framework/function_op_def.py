"""The op definition of a function: a node may name a function as its op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework.op_registry import ArgDef, OpDef
from tensorloom.framework.shape_inference import unknown_shapes

if TYPE_CHECKING:
    from tensorloom.framework.function_problem import FunctionProblem
    from tensorloom.framework.graph_ir import FunctionIR


def signature_of(function: FunctionIR) -> OpDef | FunctionProblem:
    """The OpDef of calls to `function`, or why nobody can tell."""
    problem = function.problem
    if problem is not None and not problem.has_signature:
        signature = problem.signature
        return replace(signature, name=function.name) if signature else problem
    return op_def_of(function)


def op_def_of(function: FunctionIR) -> OpDef:
    """The OpDef of calls to `function`: inputs and outputs of fixed dtypes."""
    return OpDef(
        name=function.name,
        inputs=tuple(
            ArgDef(name, dtype)
            for name, dtype in zip(function.arg_names, function.arg_types, strict=True)
        ),
        outputs=tuple(
            ArgDef(name, dtype)
            for name, dtype in zip(
                function.output_names, function.output_types, strict=True
            )
        ),
        attrs={},
        shape_fn=unknown_shapes,
        gradient=None,
        is_stateful=function.is_stateful,
        doc="A call of a function of the graph.",
    )
