"""`LogOptions`: which requests of a model are logged, and where to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework import errors

#: The only type of log collector there is.
TFRECORD: Final = "tfrecord"


@dataclass(frozen=True, slots=True)
class LogOptions:
    """One `LoggingConfig`."""

    #: What the files' names begin with, directories included.
    prefix: str
    #: The part of requests that is logged, 0 to 1.
    rate: float

    @staticmethod
    def decode(config: Any) -> LogOptions:
        """The options of a `LoggingConfig`.

        Raises:
          errors.NotFoundError: there is no such type of collector.
          errors.InvalidArgumentError: it says nothing about the place, or a wrong rate.
        """
        collector, sampling = config.log_collector_config, config.sampling_config
        if collector.type != TFRECORD:
            raise errors.NotFoundError(
                None,
                None,
                f"Cannot find LogCollector::Factory for type: {collector.type} (there "
                f"is {TFRECORD})",
            )
        if config.HasField("custom_logging_config"):
            raise _invalid("custom_logging_config is not supported")
        if not collector.filename_prefix:
            raise _invalid("log_collector_config has no filename_prefix")
        rates = [sampling.sampling_rate]
        # As of a server without a data centre's name, and with the number 0.
        rates[:0] = [
            task.sampling_rate
            for task in sampling.per_task_sampling_configs
            if not task.dc and not task.task_index
        ]
        if not 0 <= rates[0] <= 1:
            raise _invalid(f"sampling_rate must be between 0 and 1, not {rates[0]}")
        return LogOptions(collector.filename_prefix, rates[0])


def is_below(prefix: str, directory: str) -> bool:
    """Whether files with a prefix are in a directory, links followed; "": never."""
    if not directory or ".." in prefix.split("/"):
        return False
    if "://" in directory or "://" in prefix:
        return prefix.startswith(directory.rstrip("/") + "/")
    parent = os.path.realpath(os.path.dirname(prefix))
    top = os.path.realpath(directory)
    return os.path.commonpath([parent, top]) == top


def _invalid(message: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, f"logging_config: {message}")
