"""What `tensorflow.python.training.tracking.util` has for objects that are saved."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.types import dtypes
from tensorloom.ops.state import initializers
from tensorloom.train.checkpoints.object_graph import ObjectGraphView


def list_objects(root_trackable: Any) -> list[Any]:
    """All objects that a checkpoint of the root saves; the slots of optimizers last."""
    return ObjectGraphView(root_trackable).list_objects()


def gather_initializers(root_trackable: Any) -> list[Any]:
    """The initializers of all variables and tables that the root leads to."""
    found = [
        getattr(each, "initializer", None) for each in list_objects(root_trackable)
    ]
    return [initializer for initializer in found if initializer is not None]


def add_variable(
    trackable: Any,
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """Makes a variable that an object depends on; scopes of variables do not count.

    Args:
      trackable: the object.
      name: of the variable, and of the dependency.
      shape, dtype: of the variable; `shape` is not needed for an initial value.
      initializer: an initial value, or what makes one of a shape and a dtype; Glorot's
        uniform initializer (zeros for integers) when None.
      trainable: whether optimizers change it.

    Raises:
      ValueError: the object has a dependency of that name.
    """
    if trackable._lookup_dependency(name) is not None:
        raise ValueError(
            f"A variable named '{name}' already exists in this Trackable, but "
            "Trackable._add_variable called to create another with that name. Variable "
            "names must be unique within a Trackable object."
        )
    if initializer is None:
        is_float = dtypes.as_dtype(dtype).is_floating
        kind = initializers.GlorotUniform if is_float else initializers.Zeros
        initializer = kind()
    value = initializer
    if callable(initializer):
        value = lambda: initializer(shape, dtype=dtype)
    variable = Variable(
        value, trainable=trainable, name=name, dtype=dtype, use_resource=True
    )
    trackable._track_trackable(variable, name)
    trackable._handle_deferred_dependencies(name, variable)
    return variable
