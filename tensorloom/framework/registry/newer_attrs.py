"""Attrs that TensorFlow 2.x added to ops of 1.15, with the defaults they came with.

A graph of a newer producer says them even where they change nothing. At its default
such an attr is dropped, as TensorFlow's own rule for older consumers has it; at any
other value the node means something that 1.15 cannot do, which is an error.
"""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.types import dtypes

# By attr: each was added with one default to all the ops that have it (2.21).
DEFAULTS: Final[dict[str, Any]] = {
    "Tcomplex": dtypes.complex64,
    "Tk": dtypes.int32,
    "Treal": dtypes.float32,
    "Tshape": dtypes.int32,
    "Tsegmentids": dtypes.int32,
    "allow_missing_files": False,
    "allowed_devices": [],
    "auto_shard_policy": 0,
    "bad_indices_policy": b"",
    "blank_index": -1,
    "cardinality_options": b"",
    "deterministic": b"default",
    "ensure_minimum_range": 0.009999999776482582,
    "explicit_paddings": [],
    "external_state_policy": 0,
    "filter_format": b"HWIO",
    "index_type": dtypes.int32,
    "multiply_linear_by_lr": False,
    "narrow_range": False,
    "num_host_args": 0,
    "num_replicas": 0,
    "offset": 0,
    "padding_list": [],
    "perturb_singular": False,
    "ragged_keys": [],
    "ragged_split_types": [],
    "ragged_value_types": [],
    "ram_budget": 0,
    "reshuffle_each_iteration": False,
    "resize_if_index_out_of_bounds": False,
    "shape_type": dtypes.int32,
    "stop_on_empty_dataset": False,
}

# By op and attr, where the attr's name means something else for other ops.
_DEFAULTS_OF_OPS: Final[dict[tuple[str, str], Any]] = {
    **{
        (f"FusedBatchNorm{version}", "exponential_avg_factor"): 1.0
        for version in ("", "V2", "V3")
    },
    ("Dequantize", "axis"): -1,
    ("Dequantize", "dtype"): dtypes.float32,
    ("QuantizeAndDequantizeV2", "axis"): -1,
    ("QuantizeAndDequantizeV3", "axis"): -1,
    ("QuantizeV2", "axis"): -1,
    ("SlidingWindowDataset", "drop_remainder"): True,
}

# What they say changes no value: any may be dropped. (`sparse_gradient` is about the
# gradient that the producer's client made, which is in the graph already;
# `validate_shape` refuses an assignment that 1.15 makes.)
HINTS: Final = frozenset(
    [
        "debug_name",
        "grad_a",
        "grad_b",
        "grad_x",
        "grad_y",
        "sparse_gradient",
        "validate_shape",
        # Of datasets: names and threads.
        "buffer_size_min",
        "force_synchronous",
        "is_files",
        "log_warning",
        "metadata",
        "replicate_on_split",
        "use_default_device",
        "use_unbounded_threadpool",
    ]
)


def is_default(op: str, name: str, value: Any) -> bool:
    """Whether an attr that an op does not have may be dropped."""
    if name in HINTS:
        return True
    if name == "TArgs":  # of _FusedConv2D, whose bias has the type of its image here
        return len(set(value)) <= 1
    if name in DEFAULTS:
        return bool(DEFAULTS[name] == value)
    place = (op, name)
    return place in _DEFAULTS_OF_OPS and bool(_DEFAULTS_OF_OPS[place] == value)


#: Attrs that mean something at other values, too: kept with an underscore in front.
KEPT: Final = frozenset(["resize_if_index_out_of_bounds"])

#: Attrs that our ops have beyond those of 1.15, for graphs of newer producers. They are
#: written only where they are not at their default, so that 1.15 can read our graphs.
ADDED: Final[dict[str, frozenset[str]]] = {
    "CTCGreedyDecoder": frozenset(["blank_index"]),
    "Dequantize": frozenset(["axis", "dtype", "narrow_range"]),
    "DirectedInterleaveDataset": frozenset(["stop_on_empty_dataset"]),
    "ExperimentalDirectedInterleaveDataset": frozenset(["stop_on_empty_dataset"]),
    "InitializeTableFromTextFile": frozenset(["offset"]),
    "InitializeTableFromTextFileV2": frozenset(["offset"]),
    "MaxPool": frozenset(["explicit_paddings"]),
    "MaxPoolGrad": frozenset(["explicit_paddings"]),
    "QuantizeAndDequantizeV2": frozenset(["axis"]),
    "QuantizeAndDequantizeV3": frozenset(["axis"]),
    "QuantizeV2": frozenset(["axis", "ensure_minimum_range", "narrow_range"]),
    "ShuffleAndRepeatDataset": frozenset(["reshuffle_each_iteration"]),
    "TopKV2": frozenset(["Tk", "index_type"]),
    **{
        f"DepthwiseConv2dNative{suffix}": frozenset(["explicit_paddings"])
        for suffix in ("", "BackpropInput", "BackpropFilter")
    },
    **{
        f"{way}FFT{suffix}": frozenset(["Treal", "Tcomplex"])
        for way in ("R", "IR")
        for suffix in ("", "2D", "3D")
    },
    **{
        f"FusedBatchNorm{version}": frozenset(["exponential_avg_factor"])
        for version in ("", "V2", "V3")
    },
} | dict.fromkeys(
    [
        f"SparseSegment{kind}{suffix}"
        for kind in ("Sum", "Mean", "SqrtN")
        for suffix in ("", "WithNumSegments", "Grad")
    ],
    frozenset(["Tsegmentids"]),
)
