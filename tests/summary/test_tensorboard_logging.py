"""Log messages that are events, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tensorloom as tf
from tensorloom.summary import tensorboard_logging as log

if TYPE_CHECKING:
    from pathlib import Path


def test_messages_from_the_verbosity_on_are_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(log.logging, "log", lambda _, text, *args: logged.append(text))
    with pytest.raises(RuntimeError, match="Must call set_summary_writer"):
        log.error("nobody listens")
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
    log.set_summary_writer(writer)
    try:
        for level in (log.debug, log.info, log.warn, log.error, log.fatal):
            level("a %s", "message")
        log.set_verbosity(log.FATAL)
        log.error("too low")
        assert log.get_verbosity() == log.FATAL
        log.set_summary_writer(None)
        log.fatal("to the log alone")
        with pytest.raises(ValueError, match="Level bad is not a valid"):
            log.log("bad", "x")
    finally:
        log.set_verbosity(log.WARN)
        log._clear_summary_writer()
    writer.close()
    (path,) = tmp_path.iterdir()
    events = list(tf.train.summary_iterator(str(path)))[1:]
    written = [(event.log_message.level, event.log_message.message) for event in events]
    assert written == [(level, "a message") for level in (30, 40, 50)]
    assert len(logged) == 7
