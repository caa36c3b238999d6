"""`BatchingParameters`, decoded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager.model_config import parse_text_file
from tensorloom.storage.files import filesystem

#: The parameters that a model brings along, in its version's directory.
FILE_OF_MODEL: Final = "batching_params.pbtxt"


@dataclass(frozen=True, slots=True)
class BatchingOptions:
    """How requests are put together."""

    #: The most rows of a request, and of a batch that is not split.
    max_batch_size: int = 1000
    #: How long the first request of a batch waits for others.
    timeout_s: float = 0.0
    #: Batches of one signature that may wait; further requests are refused.
    max_enqueued_batches: int = 10
    #: Batches of one signature that run at a time.
    parallel_batches: int = 1
    #: Batches are filled up to one of these; in order; none: they are not.
    allowed_sizes: Sequence[int] = ()
    #: Whether shorter rows are filled up to the longest.
    pads_rows: bool = False
    #: Whether a request larger than a batch is spread over several.
    splits: bool = False
    #: The most rows of a step, where requests are split.
    max_execution_size: int = 1000
    #: What metrics call the threads.
    pool_name: str = "batch_threads"


def read_parameters(path: str) -> BatchingOptions:
    """The options in a file.

    Raises:
      errors.InvalidArgumentError: it is no `BatchingParameters` in text format, or they
        contradict each other.
      OSError, errors.OpError: it cannot be read.
    """
    from tensorloom.protos.serving.session_bundle_config_pb2 import BatchingParameters

    return decode(parse_text_file(path, BatchingParameters()))


def parameters_of_model(directory: str) -> BatchingOptions | None:
    """Those that a version brings along; None if it has none; raises as above."""
    path = filesystem.join(directory, FILE_OF_MODEL)
    return read_parameters(path) if filesystem.exists(path) else None


def decode(message: Any) -> BatchingOptions:
    """The options of a `BatchingParameters`.

    Raises:
      errors.InvalidArgumentError: they contradict each other.
    """

    def value(name: str, default: Any) -> Any:
        return getattr(message, name).value if message.HasField(name) else default

    usual = BatchingOptions()
    largest = value("max_batch_size", usual.max_batch_size)
    options = BatchingOptions(
        largest,
        value("batch_timeout_micros", 0) / 1e6,
        value("max_enqueued_batches", usual.max_enqueued_batches),
        value("num_batch_threads", os.cpu_count() or 1),
        tuple(message.allowed_batch_sizes),
        message.pad_variable_length_inputs,
        value("enable_large_batch_splitting", False),
        value("max_execution_batch_size", largest),
        value("thread_pool_name", usual.pool_name),
    )
    _check(options)
    return options


def _check(options: BatchingOptions) -> None:
    for what, number, least in (
        ("max_batch_size", options.max_batch_size, 1),
        ("batch_timeout_micros", options.timeout_s, 0),
        ("max_enqueued_batches", options.max_enqueued_batches, 1),
        ("num_batch_threads", options.parallel_batches, 1),
        ("max_execution_batch_size", options.max_execution_size, 1),
    ):
        if number < least:
            raise _invalid(f"{what} must be at least {least}; was {number}")
    if options.max_execution_size > options.max_batch_size:
        raise _invalid(
            "max_batch_size should be greater than or equal to max_execution_batch_size"
        )
    sizes = list(options.allowed_sizes)
    if not sizes:
        return
    if sizes != sorted(set(sizes)) or sizes[0] < 1:
        raise _invalid("allowed_batch_sizes entries must be monotonically increasing")
    name = "max_execution_batch_size" if options.splits else "max_batch_size"
    most = options.max_execution_size if options.splits else options.max_batch_size
    if sizes[-1] != most:
        raise _invalid(
            f"Last entry in allowed_batch_sizes must match {name}; last entry was "
            f"{sizes[-1]}; expected {most}"
        )


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
