"""`Variable` of `tensorflow.python.ops.variables`: of resources, as in TensorFlow 2.

What is `tf.Variable` in TensorFlow 1 is called `VariableV1` there.
"""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variables import Variable as VariableV1


class _OfResources(type):
    """All variables are instances; a call makes one of a resource."""

    def __call__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> Any:
        """A resource variable; see `tf.Variable` for the arguments."""
        return VariableV1(
            initial_value=initial_value,
            trainable=trainable,
            validate_shape=validate_shape,
            caching_device=caching_device,
            name=name,
            variable_def=variable_def,
            dtype=dtype,
            import_scope=import_scope,
            constraint=constraint,
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
            shape=shape,
        )

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, VariableV1)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, VariableV1)

    def __getattr__(cls, name: str) -> Any:
        """`from_proto`, `SaveSliceInfo` and the like."""
        return getattr(VariableV1, name)


class Variable(metaclass=_OfResources):
    """A variable of a resource."""
