"""Scopes and devices of programs for TPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.math.cast import cast


def _float32_variable(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if kwargs["dtype"] != dtypes.bfloat16:
        return getter(*args, **kwargs)
    return cast(getter(*args, **{**kwargs, "dtype": dtypes.float32}), dtypes.bfloat16)


@export("tpu.bfloat16_scope", "contrib.tpu.bfloat16_scope")
@contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """A variable scope whose bfloat16 variables are float32 ones, cast when read."""
    with variable_scope("", custom_getter=_float32_variable) as scope:
        yield scope


@export("tpu.core", "contrib.tpu.core")
def core(num: int) -> str:
    """The device of a core of a replica.

    Args:
      num: the number of the core.
    """
    return f"device:TPU_REPLICATED_CORE:{num}"


@export("tpu.outside_compilation", "contrib.tpu.outside_compilation")
def outside_compilation(
    computation: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """`computation(*args, **kwargs)`: without TPUs all is outside of their programs."""
    return computation(*args, **kwargs)
