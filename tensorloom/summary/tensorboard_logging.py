"""`tensorflow.python.training.tensorboard_logging`: log messages as events, too."""

from __future__ import annotations

import time
from typing import Any, Final

from tensorloom.client.program import program_log as logging

DEBUG: Final = "DEBUG"
INFO: Final = "INFO"
WARN: Final = "WARN"
ERROR: Final = "ERROR"
FATAL: Final = "FATAL"
# Level: what the log calls it, and what events do.
_LEVELS: Final = {
    DEBUG: (logging.DEBUG, "DEBUGGING"),
    INFO: (logging.INFO, "INFO"),
    WARN: (logging.WARN, "WARN"),
    ERROR: (logging.ERROR, "ERROR"),
    FATAL: (logging.FATAL, "FATAL"),
}
_NOT_SET: Final = object()

_verbosity = WARN
_summary_writer: Any = _NOT_SET


def get_verbosity() -> str:
    """The lowest level of which messages become events."""
    return _verbosity


def set_verbosity(verbosity: str) -> None:
    """Sets the lowest level of which messages become events.

    Raises:
      ValueError: there is no such level.
    """
    global _verbosity
    _check(verbosity)
    _verbosity = verbosity


def _check(level: str) -> None:
    if level not in _LEVELS:
        raise ValueError(f"Level {level} is not a valid tensorboard_logging level")


def set_summary_writer(summary_writer: Any) -> None:
    """Sets the `FileWriter` that gets the events; with None only the log has them."""
    global _summary_writer
    _summary_writer = summary_writer


def _clear_summary_writer() -> None:
    """Lets messages fail until a writer is set again."""
    set_summary_writer(_NOT_SET)


def log(level: str, message: str, *args: Any) -> None:
    """Logs `message % args`, and writes it as an event if the verbosity asks for it.

    Raises:
      ValueError: there is no such level.
      RuntimeError: `set_summary_writer` was not called.
    """
    from tensorloom.protos.event_pb2 import Event, LogMessage

    if _summary_writer is _NOT_SET:
        raise RuntimeError(
            "Must call set_summary_writer before doing any logging from "
            "tensorboard_logging"
        )
    _check(level)
    of_log, of_events = _LEVELS[level]
    wanted = LogMessage.Level.Value(of_events)
    if wanted >= LogMessage.Level.Value(_LEVELS[_verbosity][1]) and _summary_writer:
        told = LogMessage(level=wanted, message=message % args)
        _summary_writer.add_event(Event(wall_time=time.time(), log_message=told))
    logging.log(of_log, message, *args)


def debug(message: str, *args: Any) -> None:
    """`log` at the level DEBUG."""
    log(DEBUG, message, *args)


def info(message: str, *args: Any) -> None:
    """`log` at the level INFO."""
    log(INFO, message, *args)


def warn(message: str, *args: Any) -> None:
    """`log` at the level WARN."""
    log(WARN, message, *args)


def error(message: str, *args: Any) -> None:
    """`log` at the level ERROR."""
    log(ERROR, message, *args)


def fatal(message: str, *args: Any) -> None:
    """`log` at the level FATAL."""
    log(FATAL, message, *args)
