"""`init_variable` of `tensorflow.python.ops.state_ops`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import colocate_with, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.state.reference_variable import assign


def init_variable(v: Any, init: Any, name: str = "init") -> Any:
    """Gives a variable its first value.

    Args:
      v: a reference variable.
      init: the value, or a function of the shape and the dtype that gives it.
      name: of the operation, below the variable's.

    Raises:
      AssertionError: there is a function, and the shape is not known.
    """
    with (
        name_scope(f"{v.op.name}/", values=[v, init]),
        name_scope(name) as scope,
        colocate_with(v),
    ):
        if callable(init):
            assert v.get_shape().is_fully_defined(), "Variable shape unknown."
            init = init(v.get_shape().as_list(), v.dtype.base_dtype)
            return assign(v, convert_to_tensor(init, name="value"), name=scope)
        return assign(v, convert_to_tensor(init, name="init"), name=scope)
