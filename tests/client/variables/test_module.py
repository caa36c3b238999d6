"""`tf.Module`, and libraries that cannot be loaded."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf


class Inner(tf.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(3.0, name="w")


class TwoParts(tf.Module):  # type: ignore[misc]
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.b = tf.Variable(1.0, name="b")
        self.parts = {"inner": Inner(), "list": [tf.Variable(2.0, trainable=False)]}

    @tf.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        return tf.add(x, self.b, name="sum")


def test_variables_modules_and_names() -> None:
    with tf.Graph().as_default():
        module = TwoParts()
        assert module.name == "two_parts"
        assert [type(m) for m in module.submodules] == [Inner]
        assert len(module.variables) == 3
        assert len(module.trainable_variables) == 2
        named = TwoParts("other")
        assert named(1.0).name == "other/sum:0"
        with pytest.raises(ValueError, match="not a valid module name"):
            TwoParts("1x")


def test_libraries_that_are_not_there() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object"):
        tf.load_op_library("/nonexistent.so")
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_file_system_library("/nonexistent.so")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        tf.load_library("/nonexistent.so")
