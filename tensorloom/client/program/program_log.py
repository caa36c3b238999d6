"""`tf.logging`: the program's log, over Python's `logging`."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from typing import Any, Final

from tensorloom.framework.export import export, export_value

DEBUG: Final = logging.DEBUG
INFO: Final = logging.INFO
WARN: Final = logging.WARNING
ERROR: Final = logging.ERROR
FATAL: Final = logging.CRITICAL

_logger = logging.getLogger("tensorflow")
_counters: dict[tuple[str, str], Iterator[int]] = {}


def _add_handler() -> None:
    """Prints to standard error unless the program has set up logging itself."""
    if not _logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s:tensorflow:%(message)s"))
        _logger.addHandler(handler)
        _logger.propagate = False


@export("logging.log")
def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at a level."""
    _add_handler()
    _logger.log(level, msg, *args, **kwargs)


@export("logging.debug")
def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at level DEBUG."""
    log(DEBUG, msg, *args, **kwargs)


@export("logging.info")
def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at level INFO."""
    log(INFO, msg, *args, **kwargs)


@export("logging.warn", "logging.warning")
def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at level WARN."""
    log(WARN, msg, *args, **kwargs)


# As a module this stands for TensorFlow's `tf_logging` as well.
warn = warning


@export("logging.error")
def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at level ERROR."""
    log(ERROR, msg, *args, **kwargs)


@export("logging.fatal")
def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at level FATAL."""
    log(FATAL, msg, *args, **kwargs)


@export("logging.vlog")
def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at a verbosity level."""
    log(level, msg, *args, **kwargs)


@export("logging.get_verbosity")
def get_verbosity() -> int:
    """The level from which messages are printed."""
    return _logger.getEffectiveLevel()


@export("logging.set_verbosity")
def set_verbosity(v: int) -> None:
    """Prints messages from this level on."""
    _logger.setLevel(v)


@export("logging.log_every_n")
def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first call with this message and each n-th after it."""
    count = _counted("every", msg)
    log_if(level, msg, count % n == 0, *args)


@export("logging.log_first_n")
def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first n calls with this message."""
    log_if(level, msg, _counted("first", msg) < n, *args)


@export("logging.log_if")
def log_if(level: int, msg: str, condition: bool, *args: Any) -> None:
    """Logs when the condition is true."""
    if condition:
        log(level, msg, *args)


@export("logging.flush")
def flush() -> None:
    """Writes out what handlers hold."""
    for handler in _logger.handlers:
        handler.flush()


@export("logging.TaskLevelStatusMessage")
def TaskLevelStatusMessage(msg: str) -> None:
    """Logs a status of the task at level ERROR."""
    error(msg)


@export("get_logger")
def get_logger() -> logging.Logger:
    """The Python logger behind `tf.logging`."""
    return _logger


def _counted(kind: str, message: str) -> int:
    """How often this was asked before."""
    # Each step is atomic: threads that log the same message count together.
    return next(_counters.setdefault((kind, message), itertools.count()))


for _name, _level in (
    ("DEBUG", DEBUG),
    ("INFO", INFO),
    ("WARN", WARN),
    ("ERROR", ERROR),
    ("FATAL", FATAL),
):
    export_value(_level, f"logging.{_name}")
_logger.setLevel(WARN)
