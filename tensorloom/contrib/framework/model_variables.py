"""Variables with collections and devices of their own; those of a model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.framework.graph.graph import device as on_device
from tensorloom.framework.types import dtypes


@export("contrib.framework.variable")
@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The variable of that name: `tf.get_variable` on a device.

    Args:
      name, shape, dtype, initializer, regularizer, trainable: as there.
      collections: those that the variable is added to; GLOBAL_VARIABLES when None.
      caching_device, partitioner, use_resource: as there.
      device: a device, or a function of the operation that gives one.
      custom_getter: makes the variable in place of `tf.get_variable`.
      synchronization, aggregation: as there.
    """
    chosen = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    getter: Callable[..., Any] = get_variable
    if custom_getter is not None:
        reuse = get_variable_scope().reuse
        getter = functools.partial(custom_getter, reuse=reuse)
    with on_device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            # Once each, in the order in which they are named.
            collections=list(dict.fromkeys(chosen)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@export("contrib.framework.model_variable")
@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """A `variable` that is also in MODEL_VARIABLES and GLOBAL_VARIABLES."""
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[
            *(collections or ()),
            GraphKeys.GLOBAL_VARIABLES,
            GraphKeys.MODEL_VARIABLES,
        ],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def model_variable_getter(
    rename: Mapping[str, str] | None = None,
) -> Callable[..., Any]:
    """A custom getter that makes model variables, some under other names.

    Args:
      rename: last parts of names, and what they become: `{"kernel": "weights"}`.
    """

    def get(getter: Callable[..., Any], name: str, **options: Any) -> Any:
        above, slash, last = name.rpartition("/")
        if rename:
            name = above + slash + rename.get(last, last)
        allowed = {key: options[key] for key in _PASSED_ON if key in options}
        return model_variable(name, custom_getter=getter, **allowed)

    return get


_PASSED_ON = (
    *("shape", "dtype", "initializer", "regularizer", "collections", "trainable"),
    *("caching_device", "partitioner", "use_resource", "synchronization"),
    "aggregation",
)
