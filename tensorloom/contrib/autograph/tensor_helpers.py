"""Small functions of `tf.contrib.autograph.utils`."""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

from tensorloom.framework.export import export, names
from tensorloom.framework.export import find as find_public
from tensorloom.framework.graph import tensor as tensor_types
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.array.identity import identity
from tensorloom.ops.lists.list_ops import tensor_list_push_back
from tensorloom.ops.lists.tensor_array import TensorArray


@export("contrib.autograph.utils.alias_tensors")
def alias_tensors(*args: Any) -> Any:
    """Copies of tensors; other values, variables too, as they are.

    Returns:
      One value, or a generator of several.

    Raises:
      ValueError: there are no arguments.
    """
    if not args:
        raise ValueError("at least one argument required")
    copies = (identity(a) if isinstance(a, Tensor) else a for a in args)
    return copies if len(args) > 1 else next(copies)


@export("contrib.autograph.utils.control_dependency_on_returns")
def control_dependency_on_returns(return_value: Any) -> Any:
    """A context in which operations wait for what a function returned.

    Args:
      return_value: a tensor, a TensorArray, an operation, a list of these, or None.
    """
    if return_value is None:
        return contextlib.nullcontext()
    if not isinstance(return_value, (list, tuple)):
        return_value = (return_value,)
    return control_dependencies(
        tuple(v.flow if isinstance(v, TensorArray) else v for v in return_value)
    )


@export("contrib.autograph.utils.dynamic_list_append")
def dynamic_list_append(target: Any, element: Any) -> Any:
    """A list, tensor list or TensorArray with one element more."""
    if isinstance(target, TensorArray):
        return target.write(target.size(), element)
    if isinstance(target, Tensor):
        return tensor_list_push_back(target, element)
    target.append(element)
    return target


@export("contrib.autograph.utils.is_tensor")
def is_tensor(*args: Any) -> bool:
    """Whether any argument is a tensor or variable, dense or sparse."""
    return any(map(tensor_types.is_tensor, args))


class _FakeModule(ModuleType):
    """Has the names of `tf`, and those of `tf.math`."""

    def __getattr__(self, name: str) -> Any:
        for public in (name, f"math.{name}"):
            with contextlib.suppress(KeyError):
                return find_public(public)
        raise AttributeError(f"module 'tensorflow' has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(name for name in names() if "." not in name)


@export("contrib.autograph.utils.fake_tf")
def fake_tf() -> ModuleType:
    """A module that looks like TensorFlow, for tests of converted code."""
    return _FakeModule("tensorflow")
