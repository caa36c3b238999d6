"""Attrs that TensorFlow 2.x added to ops of 1.15, with the defaults they came with.

A graph of a newer producer says them even where they change nothing. At its default
such an attr is dropped, as TensorFlow's own rule for older consumers has it; at any
other value the node means something that 1.15 cannot do, which is an error. Hints and
labels, which never change a value, are dropped whatever they say.
"""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework import dtypes

# By attr: each was added with one default to all the ops that have it (2.21).
DEFAULTS: Final[dict[str, Any]] = {
    "Tcomplex": dtypes.complex64,
    "Tk": dtypes.int32,
    "Treal": dtypes.float32,
    "Tsegmentids": dtypes.int32,
    "allow_missing_files": False,
    "allowed_devices": [],
    "bad_indices_policy": b"",
    "explicit_paddings": [],
    "exponential_avg_factor": 1.0,
    "index_type": dtypes.int32,
    "multiply_linear_by_lr": False,
    "offset": 0,
    "perturb_singular": False,
    "shape_type": dtypes.int32,
    "sparse_gradient": False,
    "validate_shape": False,
}


# What producers tell their own tools.
_WITHOUT_EFFECT: Final = frozenset(["debug_name", "grad_a", "grad_b", "grad_x", "grad_y"])


def is_default(name: str, value: Any) -> bool:
    """Whether an attr that an op does not have may be dropped."""
    if name in _WITHOUT_EFFECT:
        return True
    return name in DEFAULTS and bool(DEFAULTS[name] == value)
