"""The variables of a graph by collection, and ops over many of them at once."""

from __future__ import annotations

import os
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    colocate_with,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops


@export("global_variables")
def global_variables(scope: str | None = None) -> list[Any]:
    """The variables that are saved and shared; `scope` filters by name (a regex)."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@export("all_variables")
def all_variables() -> list[Any]:
    """Old name of `global_variables`."""
    return global_variables()


@export("local_variables")
def local_variables(scope: str | None = None) -> list[Any]:
    """The variables of this process, not saved."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@export("model_variables")
def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that inference needs."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@export("trainable_variables")
def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers change by default."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@export("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables whose moving average is kept."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def _all_saveable_objects(scope: str | None = None) -> list[Any]:
    """What a Saver saves by default."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + get_collection(
        GraphKeys.SAVEABLE_OBJECTS, scope
    )


@export("initializers.variables", "variables_initializer")
def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """An operation that runs the initializers of all the variables."""
    if var_list:
        return control_flow_ops.group(*[v.initializer for v in var_list], name=name)
    return control_flow_ops.no_op(name=name)


@export("initialize_variables")
def initialize_variables(var_list: Any, name: str = "init") -> Any:
    """Old name of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


@export("initializers.global_variables", "global_variables_initializer")
def global_variables_initializer() -> Any:
    """An operation that initializes all global variables.

    Variables of rows by keys need none, but where they start from a checkpoint.
    """
    started = started_from_checkpoints(get_default_graph())
    return variables_initializer([*global_variables(), *started])


def started_from_checkpoints(graph: Any) -> list[Any]:
    """The variables of rows by keys whose initializers read a checkpoint."""
    started: list[Any] = graph.__dict__.setdefault(
        "_started_from_checkpoints",
        [],  # no collection: a MetaGraph cannot hold them
    )
    return started


@export("initialize_all_variables")
def initialize_all_variables() -> Any:
    """Old name of `global_variables_initializer`."""
    return global_variables_initializer()


@export("initializers.local_variables", "local_variables_initializer")
def local_variables_initializer() -> Any:
    """An operation that initializes all local variables."""
    return variables_initializer(local_variables())


@export("initialize_local_variables")
def initialize_local_variables() -> Any:
    """Old name of `local_variables_initializer`."""
    return local_variables_initializer()


@export("initializers.tables_initializer", "tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Any:
    """An operation that initializes all lookup tables."""
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    if initializers:
        return control_flow_ops.group(*initializers, name=name)
    return control_flow_ops.no_op(name=name)


@export("initialize_all_tables")
def initialize_all_tables(name: str = "init_all_tables") -> Any:
    """Old name of `tables_initializer`."""
    return tables_initializer(name)


def _known_variables(var_list: Any) -> list[Any]:
    """`var_list`, or all variables, or at least the variable ops of the graph."""
    if var_list is None:
        var_list = global_variables() + local_variables()
        if not var_list:
            var_list = [
                op.outputs[0]
                for op in get_default_graph().get_operations()
                if op.type in ("Variable", "VariableV2", "AutoReloadVariable")
            ]
    return list(var_list)


@export("assert_variables_initialized")
def assert_variables_initialized(var_list: Any = None) -> Tensor | None:
    """A tensor whose evaluation fails while a variable has no value; None for none."""
    ranks = []
    for variable in _known_variables(var_list):
        with colocate_with(variable.op):
            ranks.append(shape_ops.rank_internal(variable, optimize=False))
    if not ranks:
        return None
    if len(ranks) == 1:
        return ranks[0]
    stacked: Tensor = array_ops.stack(ranks)
    return stacked


@export("report_uninitialized_variables")
def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """A string vector: the names of the variables without a value."""
    variables = _known_variables(var_list)
    where = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope(name):
        ready = [state_ops.is_variable_initialized(v) for v in variables]
        with device(where):
            if not variables:
                return constant_op.constant([], dtype=dtypes.string)
            missing = math_ops.logical_not(array_ops.stack(ready))
            names = constant_op.constant([v.op.name for v in variables])
            result: Tensor = array_ops.boolean_mask(names, missing)
            return result
