"""Specs of ApplyAdaMax, ApplyAdadelta, ApplyAdagrad, ApplyAdagradV2, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops import program as programs
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.updates import UPDATES, updated

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- optimizers -----------------------------------------------------------------
# How many variables, then which other inputs: s a scalar, g a gradient.

DENSE = {
    "ApplyGradientDescent": (1, "sg", {}),
    "ApplyMomentum": (2, "sgs", {"use_nesterov": None}),
    "ApplyKerasMomentum": (2, "sgs", {"use_nesterov": None}),
    "ApplyAdagrad": (2, "sg", {"update_slots": None}),
    "ApplyAdagradV2": (2, "ssg", {"update_slots": None}),
    "ApplyAdadelta": (3, "sssg", {}),
    "ApplyRMSProp": (3, "ssssg", {}),
    "ApplyCenteredRMSProp": (4, "ssssg", {}),
    "ApplyAdam": (3, "ssssssg", {"use_nesterov": None}),
    "ApplyFtrl": (3, "gssss", {}),
    "ApplyFtrlV2": (3, "gsssss", {}),
    "ApplyAdaMax": (3, "sssssg", {}),
    "ApplyAddSign": (2, "ssssg", {}),
    "ApplyPowerSign": (2, "ssssg", {}),
    "ApplyProximalGradientDescent": (1, "sssg", {}),
    "ApplyProximalAdagrad": (2, "sssg", {}),
}


SPARSE = {
    "SparseApplyMomentum": (2, "sgis", {"use_nesterov": None}),
    "SparseApplyKerasMomentum": (2, "sgis", {"use_nesterov": None}),
    "SparseApplyAdagrad": (2, "sgi", {"update_slots": None}),
    "SparseApplyAdagradV2": (2, "ssgi", {"update_slots": None}),
    "SparseApplyAdadelta": (3, "sssgi", {}),
    "SparseApplyRMSProp": (3, "ssssgi", {}),
    "SparseApplyCenteredRMSProp": (4, "ssssgi", {}),
    "SparseApplyFtrl": (3, "gissss", {}),
    "SparseApplyFtrlV2": (3, "gisssss", {}),
    "SparseApplyProximalAdagrad": (2, "sssgi", {}),
    "SparseApplyProximalGradientDescent": (1, "sssgi", {}),
}


TABLE = {**DENSE, **SPARSE}


def optimizer(d: Draw) -> Any:
    count, inputs, attrs = TABLE[d.op.removeprefix("Resource")]
    sparse = "i" in inputs
    shape = d.shape(1, 2, empty=0)
    ids = np.unique(d.indices((2,), shape[0])) if sparse else None
    values = [d.array(shape, low=0.5, high=2) for _ in range(count)]
    others: list[Any] = []
    for letter in inputs:
        if letter == "s":
            others.append(
                d.array((), low=0.05, high=0.9)
                if "Ftrl" not in d.op
                else ftrl(d, len(others))
            )
        elif letter == "g":
            others.append(d.array((len(ids), *shape[1:]) if ids is not None else shape))
        else:
            others.append(ids)
    chosen = {key: d.maybe() for key in attrs}
    return updated(d, values, others, **chosen)


def ftrl(d: Draw, position: int) -> Any:
    """Learning rate, regularization, and a negative power."""
    last = "V2" in d.op
    total = len(TABLE[d.op.removeprefix("Resource")][1])
    if position == total - 1:
        return np.asarray(-0.5, d.dtype.np_dtype)
    del last
    return d.array((), low=0.05, high=0.5)


def defined(prefix: str) -> str:
    return " ".join(
        prefix + name for name in TABLE if programs.op_registry.find(prefix + name)
    )


spec(defined(""), optimizer, tolerance=UPDATES, mutate=("dtype",))


spec(defined("Resource"), optimizer, tolerance=UPDATES, mutate=("dtype",))
