"""`tf.lite` can be imported; converting and running say what to use instead."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf


@pytest.mark.parametrize(
    ("name", "call", "remedy"),
    [
        ("TFLiteConverter", lambda c: c(None, [], []), "tflite_convert"),
        ("TFLiteConverter.from_session", lambda c: c(None, [], []), "tflite_convert"),
        ("TFLiteConverter.from_saved_model", lambda c: c("x"), "tflite_convert"),
        ("TocoConverter.from_keras_model_file", lambda c: c("x"), "tflite_convert"),
        ("toco_convert", lambda c: c(None, [], []), "tflite_convert"),
        ("Interpreter", lambda c: c("x.tflite"), "tflite-runtime"),
        ("OpHint", lambda c: c("x"), "that converter alone"),
        ("experimental.load_delegate", lambda c: c("x"), "tflite-runtime"),
        ("experimental.nn.dynamic_rnn", lambda c: c(None, None), "tf.nn.dynamic_rnn"),
        ("experimental.nn.TFLiteLSTMCell", lambda c: c(3), "tf.nn.rnn_cell"),
    ],
)
def test_calls_name_what_is_not_here(name: str, call: Any, remedy: str) -> None:
    value: Any = tf.lite
    for part in name.split("."):
        value = getattr(value, part)
    with pytest.raises(RuntimeError, match=remedy) as caught:
        call(value)
    assert str(caught.value).startswith(f"tf.lite.{name}: ")


def test_settings_are_there() -> None:
    assert tf.lite.constants.QUANTIZED_UINT8 is tf.uint8
    assert tf.lite.TargetSpec().supported_ops == {tf.lite.OpsSet.TFLITE_BUILTINS}
    assert str(tf.lite.Optimize.DEFAULT) == "DEFAULT"
    with pytest.raises(TypeError):
        tf.lite.toco_convert()  # what is wrong with a call comes first
