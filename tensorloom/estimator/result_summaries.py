"""The results of an evaluation in an event file and in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import make_tensor_proto
from tensorloom.summary.writer_cache import FileWriterCache


def write_results(
    directory: str, results: Mapping[str, Any], step: int, numbered: bool = True
) -> None:
    """Writes what an evaluation gave: numbers, arrays and serialized summaries.

    Args:
      directory: where to.
      results: by their names.
      step: the global step.
      numbered: whether the values of a serialized summary KEY are called KEY/0, KEY/1,
        ..., and not KEY each.
    """
    from tensorloom.protos.summary_pb2 import Summary

    program_log.info(
        "Saving dict for global step %d: %s",
        step,
        ", ".join(
            f"{key} = {results[key]!s}"
            for key in sorted(results)
            if not isinstance(results[key], bytes)
        ),
    )
    message = Summary()
    for key, value in results.items():
        if value is not None and key != GraphKeys.GLOBAL_STEP:
            _add(message, key, value, numbered)
    _write(directory, message, step)


def write_checkpoint_path(directory: str, checkpoint_path: Any, step: int) -> None:
    """Writes which checkpoint was evaluated."""
    from tensorloom.protos.summary_pb2 import Summary

    tag = "checkpoint_path"
    program_log.info(
        "Saving '%s' summary for global step %d: %s", tag, step, checkpoint_path
    )
    message = Summary()
    proto = make_tensor_proto(checkpoint_path, dtype=dtypes.string)
    message.value.add(tag=tag, tensor=proto)
    _write(directory, message, step)


def _write(directory: str, message: Any, step: int) -> None:
    writer = FileWriterCache.get(directory)
    writer.add_summary(message, step)
    writer.flush()


def _add(message: Any, key: str, value: Any, numbered: bool) -> None:
    if isinstance(value, float | np.floating | int | np.integer):
        message.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, bytes):
        _add_serialized(message, key, value, numbered)
    elif isinstance(value, np.ndarray):
        message.value.add(tag=key, node_name=key, tensor=make_tensor_proto(value))
        program_log.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider "
            "using a Tensorboard plugin for visualization (see "
            "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/"
            "README.md for more information)."
        )
    else:
        program_log.warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 "
            "or "
            "int or np.ndarray or a serialized string of Summary.",
            key,
        )


def _add_serialized(message: Any, key: str, value: bytes, numbered: bool) -> None:
    """Adds the values of a serialized summary."""
    from google.protobuf.message import DecodeError

    try:
        parsed = type(message).FromString(value)
    except DecodeError:
        program_log.warning(
            "Skipping summary for %s, cannot parse string to Summary.", key
        )
        return
    for number, part in enumerate(parsed.value):
        part.tag = f"{key}/{number}" if numbered else key
    message.value.extend(parsed.value)
