"""The settings of a conversion to TensorFlow Lite, which programs name beside it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.framework.export import export, export_value
from tensorloom.framework.types import dtypes

for _name, _value in {
    "FLOAT": dtypes.float32,
    "FLOAT16": dtypes.float16,
    "INT32": dtypes.int32,
    "INT64": dtypes.int64,
    "STRING": dtypes.string,
    "QUANTIZED_UINT8": dtypes.uint8,
    "INT8": dtypes.int8,
    "TFLITE": 2,  # toco_flags.proto's FileFormat
    "GRAPHVIZ_DOT": 3,
}.items():
    export_value(_value, f"lite.constants.{_name}")


@export("lite.OpsSet")
class OpsSet(enum.Enum):
    """Which ops a converted model may have."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"

    def __str__(self) -> str:
        return self.value


@export("lite.Optimize")
class Optimize(enum.Enum):
    """What a conversion optimizes for."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"

    def __str__(self) -> str:
        return self.value


@export("lite.RepresentativeDataset")
class RepresentativeDataset:
    """Examples that a conversion measures a model with.

    Args:
      input_gen: a function that yields lists of arrays.
    """

    def __init__(self, input_gen: Callable[[], Iterable[Any]]) -> None:
        self.input_gen = input_gen


@export("lite.TargetSpec")
class TargetSpec:
    """What a converted model is for.

    Args:
      supported_ops: a set of `OpsSet`s.
      supported_types: a list of dtypes.
    """

    def __init__(self, supported_ops: Any = None, supported_types: Any = None) -> None:
        if supported_ops is None:
            supported_ops = {OpsSet.TFLITE_BUILTINS}
        self.supported_ops = supported_ops
        self.supported_types = [] if supported_types is None else supported_types
