"""`tf.contrib.framework.py_func`: Python functions of structures of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.framework.types.nest_shallow import (
    assert_shallow_structure,
    map_structure_up_to,
)
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.ops.control_flow.script import py_func as py_func_op


@export("contrib.framework.py_func")
def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Any = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """An op that calls a Python function over NumPy arrays.

    Args:
      func: gets arrays in the structures of `args` and `kwargs`; returns arrays in that
        of `output_types`.
      args: a list or tuple of tensors.
      kwargs: a dict of tensors.
      output_types: dtypes in a structure; or a function of the arguments that gives it.
      output_shapes: shapes in that structure; or such a function. None: unknown ones.
      stateful: False when equal inputs always give equal outputs.
      name: of the op.

    Raises:
      TypeError: `args` is no list or tuple, or `kwargs` no dict.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, list | tuple):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    given = (args, kwargs)

    def call(*arrays: Any) -> Any:
        positional, named = nest.pack_sequence_as(given, list(arrays))
        result = func(*positional, **named)
        assert_shallow_structure(types, result)
        return nest.flatten(result)

    values = py_func_op(call, nest.flatten(given), nest.flatten(types), stateful, name)
    if output_shapes is not None:
        shapes = map_structure_up_to(types, as_shape, output_shapes)
        for value, shape in zip(values, nest.flatten(shapes), strict=False):
            value.set_shape(shape)
    return nest.pack_sequence_as(types, values)
