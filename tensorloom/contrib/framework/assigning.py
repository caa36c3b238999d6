"""Values for variables: given ones, and those of a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_collection
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.control_flow.builders import group
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader
from tensorloom.train.checkpoints.saver import Saver

# An operation, and what to feed when it runs.
Assignment = tuple[Any, dict[Any, Any]]


@export("contrib.framework.filter_variables")
def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match one pattern, and none of others.

    Args:
      var_list: variables.
      include_patterns: regular expressions; all variables when None.
      exclude_patterns: regular expressions; no variables when None.
      reg_search: whether a pattern may match anywhere, or only at the beginning.
    """
    matches = re.search if reg_search else re.match
    found = list(var_list)
    if include_patterns is not None:
        wanted = list(include_patterns)
        found = [v for v in found if any(matches(p, v.name) for p in wanted)]
    if exclude_patterns is not None:
        unwanted = list(exclude_patterns)
        found = [v for v in found if not any(matches(p, v.name) for p in unwanted)]
    return found


@export("contrib.framework.assign_from_values")
def assign_from_values(var_names_to_values: Mapping[str, Any]) -> Assignment:
    """An operation that assigns NumPy arrays to variables, and its feeds.

    Args:
      var_names_to_values: arrays by the names of global variables.

    Raises:
      ValueError: a name is no variable's, or several variables'.
    """
    assigns, feeds = [], {}
    for name, value in var_names_to_values.items():
        variable = _variable_named(name)
        assign, fed = _assign(variable)
        assigns.append(assign)
        feeds[fed] = value.reshape(variable.get_shape().as_list())
    return group(*assigns), feeds


def _variable_named(name: str) -> Any:
    found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    if len(found) == 1:
        return found[0]
    for variable in found:
        if variable.op.name == name:
            return variable
    raise ValueError(f"Variable {name} doesn't uniquely identify a variable")


def _assign(variable: Any) -> tuple[Any, Any]:
    """The assignment of a placeholder, and the placeholder."""
    fed = placeholder(
        dtype=variable.dtype.base_dtype,
        shape=variable.get_shape(),
        name=f"placeholder/{variable.op.name}",
    )
    return variable.assign(fed), fed


@export("contrib.framework.assign_from_values_fn")
def assign_from_values_fn(
    var_names_to_values: Mapping[str, Any],
) -> Callable[[Any], Any]:
    """`assign_from_values` as a function of a session that does it."""
    assign, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feeds)


@export("contrib.framework.assign_from_checkpoint")
def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> Assignment:
    """An operation that assigns tensors of a checkpoint to variables, and its feeds.

    Args:
      model_path: the checkpoint.
      var_list: variables, or a dict: names in the checkpoint to a variable or a list.
      ignore_missing_vars: whether a variable that is not there only gives a warning.

    Raises:
      ValueError: a variable is not there, or is of another shape.
    """
    reader = NewCheckpointReader(model_path)
    assigns, feeds = [], {}
    for name, variables in _by_saved_name(var_list).items():
        if not reader.has_tensor(name):
            message = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(message)
            program_log.warning(message)
            continue
        value = reader.get_tensor(name)
        for variable in variables:
            assign, fed = _assign(variable)
            assigns.append(assign)
            feeds[fed] = _part(name, value, variable)
    return group(*assigns), feeds


def _by_saved_name(var_list: Any) -> dict[str, list[Any]]:
    if isinstance(var_list, Mapping):
        return {
            name: list(value) if isinstance(value, list | tuple) else [value]
            for name, value in var_list.items()
        }
    found: dict[str, list[Any]] = {}
    for variable in var_list:
        part = variable._save_slice_info
        name = part.full_name if part else variable.op.name
        found.setdefault(name, []).append(variable)
    return found


def _part(name: str, value: Any, variable: Any) -> Any:
    """What a variable holds of a saved tensor."""
    part = variable._save_slice_info
    if part:
        places = zip(part.var_offset, part.var_shape, strict=True)
        return value[tuple(slice(start, start + size) for start, size in places)]
    if variable.get_shape() != value.shape:
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: "
            f"[{value.shape}], rh_shape: [{variable.get_shape()}]"
        )
    return value


@export("contrib.framework.assign_from_checkpoint_fn")
def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that restores variables from a checkpoint.

    Args:
      model_path, var_list, ignore_missing_vars: as of `assign_from_checkpoint`.
      reshape_variables: whether tensors of another shape and equal size will do.

    Returns:
      The function; None where no variable is in the checkpoint.

    Raises:
      ValueError: there are no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        if not isinstance(var_list, Mapping):
            var_list = {variable.op.name: variable for variable in var_list}
        missing = [name for name in var_list if not reader.has_tensor(name)]
        for name in missing:
            program_log.warning(
                "Variable %s missing in checkpoint %s", name, model_path
            )
        var_list = {n: v for n, v in var_list.items() if n not in missing}
    if not var_list:
        program_log.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)
