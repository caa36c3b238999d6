"""Decorators that look at what a test leaves behind in the process."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.tensor_shape import TensorShape

Method = Callable[..., Any]
_KINDS = (Tensor, Variable, Dimension, TensorShape)
_SHOWN = 5


def _tensors() -> list[Any]:
    found = []
    for known in gc.get_objects():
        try:
            if isinstance(known, _KINDS):
                found.append(known)
        except ReferenceError:  # a weak proxy of what is gone
            continue
    return found


def assert_no_new_tensors(f: Method) -> Method:
    """The test runs in a graph of its own, and no tensor or variable of it stays."""

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = {id(known) for known in _tensors()}
        with Graph().as_default():
            result = f(self, *args, **kwargs)
        gc.collect()
        left = [known for known in _tensors() if id(known) not in before]
        if left:
            raise AssertionError(
                f"{len(left)} Tensors not deallocated after test: {left[:_SHOWN]}"
            )
        return result

    return decorated


def assert_no_garbage_created(f: Method) -> Method:
    """The test leaves no cycle of references for the garbage collector."""

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.disable()
        flags = gc.get_debug()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
            before = len(gc.garbage)
            result = f(self, *args, **kwargs)
            gc.collect()
            left = [type(known).__name__ for known in gc.garbage[before:]]
        finally:
            gc.set_debug(flags)
            del gc.garbage[:]
            gc.enable()
        self.assertEqual([], left, "objects in cycles of references")
        return result

    return decorated


def assert_no_new_pyobjects_executing_eagerly(f: Method) -> Method:
    """Nothing is executed eagerly: the test runs once, as it is."""
    return f
