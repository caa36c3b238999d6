"""Decorators of test methods that say in which of TensorFlow's modes they run.

There is one mode here, the graph: a test for graphs and eager execution runs once, in
the session that the decorator opens, and a test that needs TensorFlow 2 is skipped.
"""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import compat
from tensorloom.client.settings import config as process_config
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.test import environment

Method = Callable[..., Any]


def for_all_test_methods(
    decorator: Callable[..., Callable[[Method], Method]], *args: Any, **kwargs: Any
) -> Callable[[type], type]:
    """A decorator of classes that applies `decorator(*args, **kwargs)` to each test."""

    def decorate(cls: type) -> type:
        for name in dir(cls):
            value = getattr(cls, name)
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorate


def run_in_graph_and_eager_modes(
    func: Method | None = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """The test runs within `self.test_session`, as its graph half does in TensorFlow.

    Args:
      func: the test method, if the decorator is used without arguments.
      config: ConfigProto of the session.
      use_gpu: whether operations may be placed on a GPU.
      reset_test, assert_no_eager_garbage: about the eager half, which there is not.

    Raises:
      ValueError: it decorates a class.
    """

    def decorate(method: Method) -> Method:
        if inspect.isclass(method):
            raise ValueError(
                "run_in_graph_and_eager_modes decorates test methods, not the class "
                f"{method.__name__}: use run_all_in_graph_and_eager_modes"
            )

        @functools.wraps(method)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            with self.test_session(use_gpu=use_gpu, config=config):
                method(self, *args, **kwargs)

        return decorated

    return decorate if func is None else decorate(func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """`run_in_graph_and_eager_modes` for every test method of a class."""
    for name in dir(cls):
        eager_only = name.startswith(("testSkipEager", "test_skip_eager"))
        if not name.startswith("test") or eager_only or name == "test_session":
            continue
        value = getattr(cls, name)
        if callable(value):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls


def build_as_function_and_v1_graph(func: Method | None = None) -> Any:
    """The test only builds: once in a graph, once while a `tf.function` is traced."""

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            from tensorloom.client.functions.def_function import function

            with Graph().as_default():
                method(self, *args, **kwargs)
            with Graph().as_default():
                traced = function(lambda: method(self, *args, **kwargs))
                traced.get_concrete_function()

        return decorated

    return decorate if func is None else decorate(func)


def also_run_as_tf_function(f: Method) -> Method:
    """The test runs as it is: functions that assert need eager execution."""
    return f


def deprecated_graph_mode_only(func: Any = None) -> Any:
    """The test is about graphs: it runs as it is."""
    return func if func is not None else lambda decorated: decorated


run_deprecated_v1 = deprecated_graph_mode_only


def run_v1_only(reason: str, func: Any = None) -> Any:
    """The test is about TensorFlow 1: it runs as it is.

    Raises:
      ValueError: no reason is given.
    """
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be a string, got {type(reason)}")
    return deprecated_graph_mode_only(func)


def _skipping(reason: str, unless: Callable[[], bool], func: Method | None) -> Any:
    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not unless():
                self.skipTest(reason)
            return method(self, *args, **kwargs)

        return decorated

    return decorate if func is None else decorate(func)


def run_v2_only(func: Method | None = None) -> Any:
    """The test is about TensorFlow 2: it is skipped."""
    return _skipping("Test is only compatible with v2", lambda: False, func)


def run_gpu_only(func: Method | None = None) -> Any:
    """The test is skipped where there is no GPU."""
    return _skipping("Test requires GPU", environment.is_gpu_available, func)


def run_cuda_only(func: Method | None = None) -> Any:
    """The test is skipped where there is no GPU of CUDA."""
    return _skipping(
        "Test requires CUDA GPU", lambda: environment.is_gpu_available(True), func
    )


def skip_if(condition: Any) -> Callable[[Method], Method]:
    """The test does nothing if a condition, or what it returns when called, holds."""

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def decorated(*args: Any, **kwargs: Any) -> None:
            if not (condition() if callable(condition) else condition):
                method(*args, **kwargs)

        return decorated

    return decorate


def enable_control_flow_v2(fn: Method) -> Method:
    """The test runs with `tf.enable_control_flow_v2()`."""

    @functools.wraps(fn)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        before = compat.control_flow_v2_enabled()
        compat.enable_control_flow_v2()
        try:
            return fn(*args, **kwargs)
        finally:
            if not before:
                compat.disable_control_flow_v2()

    return decorated


def with_control_flow_v2(cls: type) -> type:
    """Adds to each test one that runs it with `tf.enable_control_flow_v2()`."""
    if compat.control_flow_v2_enabled():
        return cls
    prefix = unittest.TestLoader.testMethodPrefix
    for name, value in dict(vars(cls)).items():
        v1_only = getattr(value, "_disable_control_flow_v2", False)
        if callable(value) and name.startswith(prefix) and not v1_only:
            setattr(cls, f"{name}WithControlFlowV2", enable_control_flow_v2(value))
    return cls


def disable_control_flow_v2(unused_msg: str) -> Callable[[Any], Any]:
    """`with_control_flow_v2` adds nothing for this test."""

    def decorate(method: Any) -> Any:
        method._disable_control_flow_v2 = True
        return method

    return decorate


def _as_it_is(description: str) -> Callable[[Any], Any]:
    """The test runs as it is: what the decorator switches is not there."""
    return lambda decorated: decorated


disable_xla = no_xla_auto_jit = xla_allow_fallback = _as_it_is
enable_tf_xla_constant_folding = _as_it_is


def use_deterministic_cudnn(func: Method) -> Method:
    """The test runs as it is: results of cuDNN do not depend on a switch here."""
    return func


def enable_output_all_intermediates(fn: Method) -> Method:
    """The test runs with `tf.experimental.output_all_intermediates(True)`."""

    @functools.wraps(fn)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        before = process_config.outputs_all_intermediates()
        process_config.output_all_intermediates(True)
        try:
            return fn(*args, **kwargs)
        finally:
            process_config.output_all_intermediates(before)

    return decorated
