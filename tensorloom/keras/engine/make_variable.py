"""How a Keras layer makes a variable."""

from __future__ import annotations

import inspect
from typing import Any

from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import init_scope
from tensorloom.framework.types import dtypes


def make_variable(
    name: str | None,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool | None = None,
    caching_device: Any = None,
    validate_shape: bool = True,
    constraint: Any = None,
    use_resource: bool | None = None,
    collections: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    partitioner: Any = None,
) -> Any:
    """A new variable under the open name scope; a resource variable by default.

    Args are those of `tf.get_variable`; a partitioner is not used.
    """
    del partitioner
    value, kind = initializer, None
    with init_scope():
        if callable(initializer):
            if inspect.isclass(initializer):
                initializer = initializer()
            value = _deferred(initializer, shape, dtype)
            kind = dtype.base_dtype
    return Variable(
        initial_value=value,
        name=name,
        trainable=trainable,
        caching_device=caching_device,
        dtype=kind,
        validate_shape=validate_shape,
        constraint=constraint,
        use_resource=True if use_resource is None else use_resource,
        collections=collections,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def _deferred(initializer: Any, shape: Any, dtype: Any) -> Any:
    return lambda: initializer(shape, dtype=dtype)
