"""`tf.saved_model.main_op`: operations that make a loaded model ready."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.control_flow.builders import group


@export("saved_model.main_op.main_op")
def main_op() -> Any:
    """An operation that initializes global and local variables and tables."""
    init = global_variables_initializer()
    init_local = local_variables_initializer()
    init_tables = tables_initializer()
    return group(init, init_local, init_tables)


@export("saved_model.main_op_with_restore", "saved_model.main_op.main_op_with_restore")
def main_op_with_restore(restore_op_name: Any) -> Any:
    """As `main_op`, and then the operation that restores the variables."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
