"""Slots: variables beside a variable, such as its momentum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.client.distribution.thread_modes import current_strategy
from tensorloom.client.variables.base_resource_variable import is_resource_variable
from tensorloom.client.variables.keyed_variable import KeyedVariable
from tensorloom.client.variables.ref_variable import RefVariable
from tensorloom.client.variables.variable_def import SaveSliceInfo
from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_creator_scope,
    variable_scope,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array import array_ops
from tensorloom.ops.state import initializers as init_ops


@contextmanager
def colocated(primary: Any) -> Iterator[None]:
    """Variables made inside go to the device of `primary`; in a strategy, to all."""
    strategy = current_strategy()
    if strategy is not None:
        with strategy.extended.colocate_vars_with(primary):
            yield
        return

    def creator(next_creator: Any, **options: Any) -> Any:
        with colocate_with(primary):
            return next_creator(**options)

    with variable_creator_scope(creator):
        yield


def _create_slot_var(
    primary: Any, value: Any, validate_shape: bool, shape: Any, dtype: Any
) -> Any:
    scope = get_variable_scope()
    # A slot follows the slices of its variable and is not sliced again.
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    use_resource: bool | None = None
    if is_resource_variable(primary):
        use_resource = True
    elif isinstance(primary, RefVariable):
        use_resource = False
    slot = get_variable(
        "",
        initializer=value,
        trainable=False,
        use_resource=use_resource,
        shape=shape if callable(value) else None,
        dtype=dtype,
        validate_shape=validate_shape,
    )
    scope.set_partitioner(partitioner)
    info = primary._save_slice_info if isinstance(primary, Variable) else None
    if info is not None:
        suffix = slot.name[len(primary.op.name + "/") : -2]
        slot._set_save_slice_info(
            SaveSliceInfo(
                f"{info.full_name}/{suffix}",
                info.full_shape[:],
                info.var_offset[:],
                info.var_shape[:],
            )
        )
    return slot


def _create(
    primary: Any,
    value: Any,
    name: str,
    colocate_with_primary: bool,
    validate_shape: bool,
    shape: Any = None,
    dtype: Any = None,
) -> Any:
    with variable_scope(None, f"{primary.op.name}/{name}"):
        if not colocate_with_primary:
            return _create_slot_var(primary, value, validate_shape, shape, dtype)
        with colocated(primary):
            return _create_slot_var(primary, value, validate_shape, shape, dtype)


def slot_shape(primary: Any) -> Any:
    """The static shape of a slot's initial value: where rows have keys, of one row."""
    if isinstance(primary, KeyedVariable):
        return primary.row_shape
    return primary.get_shape()


def _keyed(primary: KeyedVariable, value: Any, name: str) -> Any:
    """A slot of rows by keys.

    Raises:
      ValueError: the initial value is not one constant number.
    """
    array = constant_value(value)
    if array is None or (array != array.flat[0]).any():
        raise ValueError(
            f"slot {name} of {primary.name} has to begin with one constant number, got "
            f"{value}"
        )
    return primary.make_slot(name, float(array.flat[0]))


def create_slot(
    primary: Any, val: Any, name: str, colocate_with_primary: bool = True
) -> Any:
    """A slot of `primary` with the initial value `val` (a tensor)."""
    if isinstance(primary, KeyedVariable):
        return _keyed(primary, val, name)
    validate_shape = val.get_shape().is_fully_defined()
    return _create(primary, val, name, colocate_with_primary, validate_shape)


def create_slot_with_initializer(
    primary: Any,
    initializer: Any,
    shape: Any,
    dtype: Any,
    name: str,
    colocate_with_primary: bool = True,
) -> Any:
    """A slot of `primary` made by an initializer."""
    if isinstance(primary, KeyedVariable):
        return _keyed(primary, initializer(shape, dtype=dtype), name)
    validate_shape = shape.is_fully_defined()
    return _create(
        primary, initializer, name, colocate_with_primary, validate_shape, shape, dtype
    )


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Any:
    """A slot of zeros with the shape of `primary`."""
    if dtype is None:
        dtype = primary.dtype
    if isinstance(primary, KeyedVariable):
        return primary.make_slot(name, 0.0)
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, init_ops.Zeros(), shape, dtype, name, colocate_with_primary
        )
    if isinstance(primary, Variable):
        dynamic_shape = array_ops.shape(primary.initialized_value())
    else:
        dynamic_shape = array_ops.shape(primary)
    zeros = array_ops.zeros(dynamic_shape, dtype=dtype)
    return create_slot(primary, zeros, name, colocate_with_primary)
