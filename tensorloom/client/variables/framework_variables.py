"""`tf.contrib.framework`: variables found by scope, suffix and name."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope_state import VariableScope
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_collection,
)


@export("contrib.framework.get_variables")
def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = "variables"
) -> list[Any]:
    """The variables of a collection by scope (a name, regex or scope) and suffix."""
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix}" + ("" if ":" in suffix else ":")
    return get_collection(collection, scope)


@export("contrib.framework.get_model_variables")
def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the model variables."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@export("contrib.framework.get_local_variables")
def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the local variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@export("contrib.framework.get_trainable_variables")
def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the trainable variables."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@export("contrib.framework.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The global variables whose name ends so."""
    return get_variables(scope=scope, suffix=suffix)


@export("contrib.framework.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The global variables whose last part of the name is this."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


@export("contrib.framework.get_variables_to_restore")
def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """The global variables of some scopes, less those of others.

    Raises:
      TypeError: `include` or `exclude` is not a list.
    """
    for what, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, list | tuple):
            raise TypeError(f"{what} is provided but is not a list or a tuple.")
    if include is None:
        included = get_variables()
    else:
        included = [v for scope in include for v in get_variables(scope)]
    excluded = {v for scope in exclude or () for v in get_variables(scope)}
    return [v for v in included if v not in excluded]


@export("contrib.framework.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The global variable of exactly that name.

    Raises:
      ValueError: there is none.
    """
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


@export("contrib.framework.get_variable_full_name")
def get_variable_full_name(var: Any) -> str:
    """The name under which a checkpoint holds it: that of the whole if it is a part."""
    info = getattr(var, "_save_slice_info", None)
    return str(info.full_name if info else var.op.name)


@export("contrib.framework.add_model_variable")
def add_model_variable(var: Any) -> None:
    """Adds a variable to the model variables."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


@export("contrib.framework.local_variable")
def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A variable in the collection of local variables, not trainable."""
    return _variable_in(
        GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource
    )


@export("contrib.framework.global_variable")
def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A variable in the collection of global variables, not trainable."""
    return _variable_in(
        GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource
    )


def _variable_in(
    collection: str, initial_value: Any, validate_shape: bool, name: Any, resource: Any
) -> Any:
    return Variable(
        initial_value=initial_value,
        trainable=False,
        collections=[collection],
        validate_shape=validate_shape,
        name=name,
        use_resource=resource,
    )
