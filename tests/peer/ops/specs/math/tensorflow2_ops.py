"""Specs of ApproxTopK, DeviceIndex, IsotonicRegression, SobolSample, ...."""

from __future__ import annotations

from typing import Any

from tests.peer.ops.draw import Draw, K, Value
from tests.peer.ops.spec import call, spec


def _sobol(d: Draw) -> Any:
    count, skip = d.integer(1, 9), d.integer(0, 50)
    return call(K(d.integer(1, 30), "int32"), K(count, "int32"), K(skip, "int32"))


spec("SobolSample", _sobol, attr="dtype", mutate=("rank",), gradient=False)


def _isotonic(d: Draw) -> Any:
    return call(d.array(d.shape(1, 3, size=7)), output_dtype="float64")


spec("IsotonicRegression", _isotonic, mutate=())


def _approximate(d: Draw) -> Any:
    shape = d.shape(1, 3, size=6, empty=0)
    # TensorFlow takes an unknown size for -1, which is less than k.
    value = Value(d.array(shape, distinct=True), always=True)
    return call(value, k=d.integer(1, shape[-1]))


spec("ApproxTopK", _approximate, mutate=(), gradient=False)


def _to_bool(d: Draw) -> Any:
    return call(d.array(d.shape(0, 2)))


_TRUTHS = ["float32", "float64", "int32", "int64", "bool"]


spec("ToBool", _to_bool, types=_TRUTHS, mutate=())


spec(
    "DeviceIndex",
    lambda d: call(device_names=d.choice([["CPU", "GPU"], ["GPU", "CPU"], ["TPU"]])),
    types=(),
)
