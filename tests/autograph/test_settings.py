"""What programs say of conversion: features, verbosity, statuses."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import tensorloom as tf
from tensorloom.autograph.conversion.api import tf_convert
from tensorloom.framework.runtime.conversion_status import (
    ControlStatusCtx,
    Status,
    control_status_ctx,
)

if TYPE_CHECKING:
    import pytest

Feature = tf.autograph.experimental.Feature


def test_functions_take_features() -> None:
    def is_three(x: Any) -> Any:
        return 1 if x == 3 else 0

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(3)
        plain = tf.function(is_three)(x)
        options = Feature.EQUALITY_OPERATORS
        made = tf.function(is_three, experimental_autograph_options=options)(x)
        assert sess.run([plain, made]) == [0, 1]


def test_statuses() -> None:
    seen: list[Status] = []

    def look() -> int:
        seen.append(control_status_ctx().status)
        return 1

    with tf.Graph().as_default():
        look()
        tf.function(look)()
        tf.function(look, autograph=False)()
        tf.function(tf.autograph.experimental.do_not_convert(look))()
        tf_convert(look, ControlStatusCtx(Status.UNSPECIFIED), False)()
        tf_convert(look, ControlStatusCtx(Status.DISABLED))()
    names = [status.name for status in seen]
    assert names == [
        *("UNSPECIFIED", "ENABLED", "DISABLED", "DISABLED"),
        *("UNSPECIFIED", "DISABLED"),
    ]


def test_verbosity_shows_the_code(
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tensorloom.autograph import logs

    monkeypatch.setattr(logs, "_settings", dict(logs._settings))
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    tf.autograph.set_verbosity(2, alsologtostdout=True)

    def shown(x: Any) -> Any:
        return x if x else 3

    with caplog.at_level(logging.INFO, logger="tensorflow"):
        assert tf.autograph.to_graph(shown)(0) == 3
    assert "def tf__shown(x):" in caplog.text
    assert "def tf__shown(x):" in capsys.readouterr().out


def test_trace_prints_when_the_graph_is_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def f(x: Any) -> Any:
        tf.autograph.trace("traced", 3)
        return x

    with tf.Graph().as_default():
        tf.function(f)(tf.constant(1))
    assert capsys.readouterr().out == "traced 3\n"
