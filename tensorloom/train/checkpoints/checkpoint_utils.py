"""Checkpoints looked into and taken over: `list_variables`, `init_from_checkpoint`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tensorloom.client.distribution.thread_modes import merge_call
from tensorloom.client.program import program_log
from tensorloom.client.variables.keyed_variable import KeyedVariable
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_scope_state import default_store
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train.checkpoints import checkpoint_management, saver_saveables
from tensorloom.train.checkpoints.checkpoint_reader import (
    CheckpointReader,
    NewCheckpointReader,
    sorted_shapes,
)
from tensorloom.train.checkpoints.saver_builder import restore_v2


def _checkpoint_prefix(ckpt_dir_or_file: Any) -> Any:
    places = (
        ckpt_dir_or_file,
        *mirror.copies_of(filesystem.path_text(ckpt_dir_or_file)),
    )
    if any(map(filesystem.is_directory, places)):
        return checkpoint_management.latest_checkpoint(ckpt_dir_or_file)
    return ckpt_dir_or_file


def _existing_prefix(ckpt_dir_or_file: Any) -> Any:
    prefix = _checkpoint_prefix(ckpt_dir_or_file)
    if prefix is None:
        raise ValueError(
            "Couldn't find 'checkpoint' file or checkpoints in given directory "
            f"{ckpt_dir_or_file}"
        )
    return prefix


@export("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """The reader of a checkpoint, or of the newest of a directory.

    Raises:
      ValueError: the directory has none.
    """
    return NewCheckpointReader(_existing_prefix(ckpt_dir_or_file))


@export("train.load_variable")
def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The value of a variable of a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@export("train.list_variables")
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Name and shape of every variable of a checkpoint, sorted by name."""
    return sorted_shapes(_existing_prefix(ckpt_dir_or_file))


def wait_for_new_checkpoint(
    checkpoint_dir: Any,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The newest checkpoint once it is another than the last, None after a timeout."""
    program_log.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = checkpoint_management.latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            program_log.info("Found new checkpoint at %s", path)
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


@export("train.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields each new checkpoint of a directory as it comes.

    Args:
      min_interval_secs: between two of them.
      timeout: how long to wait for one, in seconds; forever when None.
      timeout_fn: asked after a timeout: true ends the iteration. None ends it too.
    """
    path: str | None = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if timeout_fn is None:
                program_log.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        path = new
        yield path
        left = start + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)


# --- init_from_checkpoint ------------------------------------------------------------


@export("train.init_from_checkpoint")
def init_from_checkpoint(
    ckpt_dir_or_file: Any, assignment_map: Mapping[str, Any]
) -> None:
    """Makes variables start with the values of a checkpoint.

    Their initializers are replaced; call it before they run.

    Args:
      assignment_map: from names in the checkpoint to variables, partitioned ones, lists
        of the slices of one, or names in the current graph; from a scope ("scope/", or
        "/" for all) to another scope.

    Raises:
      TypeError: what a name is assigned to is none of these.
      ValueError: a name is not in the checkpoint, or a shape differs.
    """
    # Once for all replicas of a strategy; all have the same variables.
    merge_call(lambda _: _init_from_checkpoint(ckpt_dir_or_file, assignment_map))


def _init_from_checkpoint(
    ckpt_dir_or_file: Any, assignment_map: Mapping[str, Any]
) -> None:
    prefix = _checkpoint_prefix(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    for name, target in sorted(assignment_map.items(), key=lambda item: item[0]):
        variable = _find_variable(target)
        if variable is not None:
            keyed = _keyed(variable)
            if keyed:
                _start_rows(keyed, ckpt_dir_or_file, prefix, shapes, name)
                continue
            _check_tensor(ckpt_dir_or_file, shapes, name, variable)
            _set_initializers(variable, prefix, name)
        else:
            _initialize_scope(ckpt_dir_or_file, prefix, shapes, name, target)


def _store_variables() -> dict[str, Any]:
    variables: dict[str, Any] = default_store()._vars
    return variables


def _find_variable(target: Any) -> Any:
    """The variable, or slices of one, that a target is or names; None for scopes."""
    if isinstance(target, Variable):
        return target
    if isinstance(target, str):
        return _variable_or_slices(target)
    if isinstance(target, list | tuple | PartitionedVariable):
        slices = list(target)
        if all(isinstance(v, Variable) for v in slices):
            return slices
    raise TypeError(
        "a checkpoint's tensor is assigned to a variable, the slices of one, or the "
        f"name of a variable or scope, not to {target!r}"
    )


def _variable_or_slices(name: Any) -> Any:
    variables = _store_variables()
    found = variables.get(name)
    if found is not None or f"{name}/part_0" not in variables:
        return found
    parts: list[Any] = []
    while f"{name}/part_{len(parts)}" in variables:
        parts.append(variables[f"{name}/part_{len(parts)}"])
    return parts


def _keyed(variable: Any) -> list[KeyedVariable]:
    """The places of a variable of rows by keys; none if it is another one."""
    parts = variable if isinstance(variable, list) else [variable]
    found = [part for part in parts if isinstance(part, KeyedVariable)]
    return found if len(found) == len(parts) else []


def _start_rows(
    parts: list[KeyedVariable],
    ckpt_dir_or_file: Any,
    prefix: Any,
    shapes: dict[str, list[int]],
    name: str,
) -> None:
    found = shapes.get(f"{name}/part_0-values")
    if found is None:
        raise ValueError(
            f"Rows of {name} are not found in {ckpt_dir_or_file} checkpoint {shapes}"
        )
    for part in parts:
        if not part.row_shape.is_compatible_with(found[1:]):
            raise ValueError(
                f"Shape of rows of {part.whole_name} ({part.row_shape}) doesn't match "
                f"with that of {name} ({found[1:]}) from checkpoint reader."
            )
        part.start_from(prefix, name)


def _check_tensor(
    ckpt_dir_or_file: Any, shapes: dict[str, list[int]], name: str, variable: Any
) -> None:
    if name not in shapes:
        raise ValueError(
            f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint {shapes}"
        )
    if isinstance(variable, Variable):
        shape = variable.get_shape()
        if not shape.is_compatible_with(shapes[name]):
            raise ValueError(
                f"Shape of variable {variable.name} ({shape}) doesn't match with shape "
                f"of tensor {name} ({shapes[name]}) from checkpoint reader."
            )


def _initialize_scope(
    ckpt_dir_or_file: Any,
    prefix: Any,
    shapes: dict[str, list[int]],
    tensor_scope: str,
    target: str,
) -> None:
    scopes = target[: target.rindex("/")] if "/" in target else ""
    if not tensor_scope.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scopes} should map to scope only "
            f"{tensor_scope}. Should be 'scope/': 'other_scope/'."
        )
    names = {
        name.partition("/part_")[0]
        for name in _store_variables()
        if not scopes or name.startswith(scopes + "/")
    }
    for name in sorted(names):
        full = name[len(scopes) :]
        if target != "/":
            full = full[1:]
        if tensor_scope != "/":
            full = tensor_scope + full
        full = full.removesuffix("/")
        if full not in shapes:
            raise ValueError(
                f"Tensor {full} ({name[len(scopes) + 1 :]} in {tensor_scope}) is not "
                f"found in {ckpt_dir_or_file} checkpoint"
            )
        _set_initializers(_variable_or_slices(name), prefix, full)


def _set_initializers(variable: Any, prefix: Any, tensor_name: str) -> None:
    if not isinstance(variable, list | tuple):
        _set_initializer(variable, prefix, tensor_name, "")
        return
    names = {v._save_slice_info.full_name for v in variable}
    if len(names) > 1:
        first, second, *_ = sorted(names)
        raise ValueError(
            f"Slices must all be from the same tensor: {first} != {second}"
        )
    for one in variable:
        _set_initializer(one, prefix, tensor_name, one._save_slice_info.spec)


def _set_initializer(variable: Any, prefix: Any, tensor_name: str, spec: str) -> None:
    # Only a CPU reads files; the variable itself stays where it is.
    with device(variable.device), device("/cpu:0"):
        restored = restore_v2(
            prefix,
            [tensor_name],
            [spec],
            [variable.dtype],
            name="checkpoint_initializer",
        )[0]
        (saveable,) = [
            saveable
            for name, op in saver_saveables.op_list_to_dict([variable]).items()
            for saveable in saver_saveables.saveable_objects_for_op(op, name)
        ]
    variable._initializer_op = saveable.restore([restored], None)
    restored.set_shape(variable.shape)
    variable._initial_value = restored
