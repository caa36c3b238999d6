"""What a supervisor finds in the graph, or makes, for what it was not given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import (
    global_variables,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from tensorloom.framework.graph.graph import (
    add_to_collection,
    get_collection,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.train.checkpoints.saver import Saver

# Stands for an argument that is to be found in the graph, or made.
USE_DEFAULT: Final = 0


def given_or(given: Any, key: str, make: Callable[[], Any]) -> Any:
    """What is given; by default what a collection has first, or what is made for it."""
    if given is not USE_DEFAULT:
        return given
    found = get_collection(key)
    if len(found) > 1:
        program_log.info(
            "Found %d %s operations. Returning the first one.", len(found), key
        )
    if found:
        return found[0]
    made = make()
    if made is not None:
        add_to_collection(key, made)
    return made


def nothing() -> None:
    """What is not made."""


def ready_op() -> Any:
    """Says which variables are not initialized."""
    return report_uninitialized_variables()


def local_init_op() -> Any:
    """Initializes local variables and tables."""
    return control_flow_ops.group(local_variables_initializer(), tables_initializer())


def saver() -> Any:
    """A saver of all variables; None if there are none."""
    return Saver() if global_variables() else None


def global_step() -> Any:
    """The tensor of that name, if it is an integer."""
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return step
    program_log.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None
