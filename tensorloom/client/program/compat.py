"""`tf.compat`: text, bytes and path conversions that TensorFlow 1 programs use."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph import classic_node_counts as classic_nodes

# The day of the 1.15 branch. The environment variable is a number of days later.
HORIZON: Final = datetime.date(2019, 8, 21)
_DELTA_DAYS: Final = "TF_FORWARD_COMPATIBILITY_DELTA_DAYS"
_horizon = HORIZON


@export("compat.as_bytes")
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text or bytes as bytes.

    Raises:
      TypeError: it is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Text or bytes as text.

    Raises:
      TypeError: it is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_str_any")
def as_str_any(value: Any) -> str:
    """Anything as text: bytes are decoded, other values go through `str`."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """A path object as text; other values as they are."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


@export("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether newer op versions may be used: graphs are read by 1.15 and later."""
    return (year, month, day) < (_horizon.year, _horizon.month, _horizon.day)


def update_forward_compatibility(date: datetime.date | None = None) -> None:
    """Sets the day that `forward_compatible` compares with.

    Args:
      date: the day; the usual one, with what the environment adds, if left out.
    """
    global _horizon
    if date is None:
        days = int(os.environ.get(_DELTA_DAYS) or 0)
        date = HORIZON + datetime.timedelta(days=days)
    _horizon = date


update_forward_compatibility()


@export("compat.forward_compatibility_horizon")
@contextmanager
def forward_compatibility_horizon(
    year: int, month: int, day: int
) -> Generator[None, None, None]:
    """Within it `forward_compatible` is true for the days before this one.

    As in TensorFlow, horizons do not nest: the first end brings back the usual one.
    """
    try:
        update_forward_compatibility(datetime.date(year, month, day))
        yield
    finally:
        update_forward_compatibility()


integral_types: Final = (numbers.Integral, np.integer)
real_types: Final = (numbers.Real, np.integer, np.floating)
complex_types: Final = (numbers.Complex, np.number)
bytes_or_text_types: Final = (bytes, str)

for _name in ("integral_types", "real_types", "complex_types", "bytes_or_text_types"):
    export_value(globals()[_name], f"compat.{_name}")


@export("disable_eager_execution")
def disable_eager_execution() -> None:
    """Graphs are the only mode: nothing to do."""


@export("enable_eager_execution")
def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Refused: graphs are the only mode.

    Raises:
      RuntimeError: always.
    """
    raise RuntimeError(
        "tf.enable_eager_execution: tensorloom has no eager execution. Build a graph "
        "and run it in a tf.Session; tf.py_function and tf.function work in graphs."
    )


@export("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Refused: it turns on eager execution, and graphs are the only mode.

    Raises:
      RuntimeError: always; it names what can be turned on by itself.
    """
    raise RuntimeError(
        "tf.enable_v2_behavior turns on eager execution, which tensorloom does not "
        "have. Other parts of it can be had: tf.enable_resource_variables, "
        "tf.enable_control_flow_v2, tf.enable_v2_tensorshape."
    )


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """False: graphs are the only mode."""
    return False


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """TensorFlow 1 behaviour is the only one: nothing to do."""


@export("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """Tensors compare by identity: nothing to do."""


@export("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Only eager tensors would compare by value then; those of graphs never do."""


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """From now on `tf.cond` and `tf.while_loop` make an `If` and a `While` node.

    They give the same values either way, but for seeds that are derived from the
    graph's. In functions they always do.
    """
    classic_nodes.choose(classic_nodes.Form.FUNCTIONS)


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """From now on `tf.cond` makes Switch and Merge, `tf.while_loop` Enter and Exit.

    Outside of functions, that is, and with the names that TensorFlow 1.15 gives them.
    A program that never says this gets an `If` and a `While` node, which are quicker to
    build; its other nodes, and seeds derived from the graph's, are the same.
    """
    classic_nodes.choose(classic_nodes.Form.CLASSIC)


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether control flow as functions was asked for."""
    return classic_nodes.prefers_functions()
