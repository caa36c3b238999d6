"""TensorFlow's debugger can be imported, and says what to use instead."""

from __future__ import annotations

import importlib

import pytest

import tensorloom as tf


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("debug", "LocalCLIDebugWrapperSession"),
        ("debug", "LocalCLIDebugHook"),
        ("debug.wrappers.hooks", "DumpingDebugHook"),
        ("debug.wrappers.dumping_wrapper", "DumpingDebugWrapperSession"),
        ("debug.lib.debug_data", "DebugDumpDir"),
    ],
)
def test_classes_refuse(module: str, name: str) -> None:
    found = getattr(importlib.import_module(f"tensorloom.python.{module}"), name)
    with pytest.raises(RuntimeError, match=rf"python\.debug\.{name}: .*tf\.print"):
        found("argument")


def test_functions_refuse() -> None:
    debug = importlib.import_module("tensorloom.python.debug")
    with pytest.raises(RuntimeError, match="no tfdbg"):
        debug.watch_graph(tf.RunOptions(), tf.get_default_graph(), debug_ops="x")
    with pytest.raises(TypeError):
        debug.watch_graph()
    assert not debug.has_inf_or_nan(None, [1.0])
