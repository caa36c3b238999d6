"""Functions of a library as `Defun` functions."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.functions import library_functions
from tensorloom.client.functions.function import Defun
from tensorloom.protos.function_pb2 import FunctionDefLibrary


def _gradient_of_square(x: Any, dy: Any) -> Any:
    return x * dy


def _square(x: Any) -> Any:
    return x * x


gradient_of_square: Any = Defun(tf.float32, tf.float32, func_name="SquareGrad")(
    _gradient_of_square
)
square: Any = Defun(tf.float32, func_name="SquareOf", grad_func=gradient_of_square)(
    _square
)


def test_a_definition_is_the_function_again() -> None:
    made = library_functions.from_definition(square.definition, gradient_of_square)
    assert made.name == square.name
    assert made.definition == square.definition
    assert made.grad_func_name == gradient_of_square.name
    assert made.declared_input_types == (tf.float32,)
    assert made.captured_inputs == []
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        y = made(x)
        assert session.run([y, *tf.gradients(y, x)]) == [9.0, 3.0]


def test_a_library_gives_its_functions_with_their_gradients() -> None:
    with tf.Graph().as_default() as graph:
        square(tf.constant(1.0))
    library = graph.as_graph_def().library
    made = {f.name: f for f in library_functions.from_library(library)}
    assert made.keys() == {square.name, gradient_of_square.name}
    assert made[square.name].grad_func_name == gradient_of_square.name
    assert made[gradient_of_square.name].grad_func_name is None
    assert library_functions.from_library(FunctionDefLibrary()) == []
    del library.function[:]
    with pytest.raises(ValueError, match="FunctionDefLibrary missing"):
        library_functions.from_library(library)


def test_gradients_of_each_other_are_refused() -> None:
    library = FunctionDefLibrary(function=[square.definition])
    name = square.name
    library.gradient.add(function_name=name, gradient_func=name)
    with pytest.raises(ValueError, match="cyclic gradient functions"):
        library_functions.from_library(library)


def test_what_a_body_captures() -> None:
    with tf.Graph().as_default():
        outside = tf.constant(1.0)

        @Defun(tf.float32)
        def body(x: Any) -> Any:
            assert library_functions.get_extra_inputs() == []
            result = x + outside
            assert library_functions.get_extra_inputs() == [outside]
            (argument,) = library_functions.get_extra_args()
            assert argument.consumers() == [result.op]
            return result

        body(tf.constant(2.0))
        assert library_functions.get_extra_args() == []
        assert library_functions.get_extra_vars() == []


def test_a_call_takes_no_other_keywords() -> None:
    with tf.Graph().as_default():
        assert square(1.0, name="call", noinline=True).op.name == "call"
        with pytest.raises(ValueError, match="Unknown keyword arguments: device"):
            square(1.0, device="/cpu:0")
