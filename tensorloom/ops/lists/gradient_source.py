"""Which gradient computation is going on: arrays of gradients belong to one each.

TensorFlow takes the last `gradients` scope of a name, which divides the arrays of a
second-order gradient among several scopes. Here one call of `tf.gradients` is one
computation, however deep in functions and whatever the names of the forward ops.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _State(threading.local):
    def __init__(self) -> None:
        self.current: str | None = None


_state = _State()


def current() -> str | None:
    """The name of the computation, None outside of any."""
    return _state.current


@contextmanager
def computing(name: str) -> Iterator[None]:
    """Within the block, gradients are those of the computation `name`."""
    before, _state.current = _state.current, name
    try:
        yield
    finally:
        _state.current = before
