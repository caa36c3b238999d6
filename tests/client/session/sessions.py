"""A session of one step, for tests that look at its values."""

from __future__ import annotations

from typing import Any

import tensorloom as tf


def run_initialized(fetches: Any, feeds: dict[Any, Any] | None = None) -> Any:
    """Initializes the variables of the default graph in a new session; runs a step."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)
