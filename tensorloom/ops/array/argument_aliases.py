"""Old names of arguments, which TensorFlow 1 takes beside the new ones."""

from __future__ import annotations

from typing import Any


def either(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value given under one of an argument's two names, None when neither is.

    Raises:
      ValueError: both are given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value
