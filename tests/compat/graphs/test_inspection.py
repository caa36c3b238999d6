"""What ops and kernels there are, and where in a program things were made."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.compat.control_flow import functional_form
from tensorloom.compat.graphs import stack_frames
from tensorloom.compat.graphs.api_def_map import ApiDefMap
from tensorloom.compat.graphs.debug_info import create_graph_debug_info_def
from tensorloom.compat.graphs.kernels import (
    get_all_registered_kernels,
    get_registered_kernels_for_op,
)
from tensorloom.compat.graphs.traceable_stack import TraceableObject, TraceableStack


def test_the_kernels_of_an_op_are_among_those_of_all() -> None:
    found = get_registered_kernels_for_op("MatMul").kernel
    assert {(kernel.op, kernel.device_type) for kernel in found} >= {("MatMul", "CPU")}
    assert not get_registered_kernels_for_op("NoSuchOp").kernel
    assert {kernel.op for kernel in get_all_registered_kernels().kernel} > {"MatMul"}


def test_texts_change_how_ops_are_shown() -> None:
    shown = ApiDefMap()
    assert "Add" in shown.op_names()
    assert [arg.name for arg in shown.get_op_def("Add").input_arg] == ["x", "y"]
    shown.put_api_def('op { graph_op_name: "Add" summary: "Another text." }')
    assert shown.get_api_def("Add").summary == "Another text."
    for look_up in (shown.get_op_def, shown.get_api_def):
        with pytest.raises(ValueError, match="No entry found for NoSuchOp"):
            look_up("NoSuchOp")


def test_a_traceable_object_knows_the_line_of_a_caller() -> None:
    made = TraceableObject("x")
    result = made.set_filename_and_line_from_caller()
    line = sys._getframe().f_lineno - 1
    assert (result, made.filename, made.lineno) == (made.SUCCESS, __file__, line)
    assert made.set_filename_and_line_from_caller(offset=1000) == made.HEURISTIC_USED
    copied = made.copy_metadata()
    assert (copied.obj, copied.lineno) == (None, made.lineno)


def test_a_traceable_stack_gives_the_newest_first() -> None:
    stack = TraceableStack()
    stack.push_obj(1)
    line = sys._getframe().f_lineno - 1
    stack.push_obj(2)
    assert [made.lineno for made in stack.peek_traceable_objs()] == [line + 2, line]
    assert (list(stack.peek_objs()), stack.peek_top_obj()) == ([2, 1], 2)
    other = stack.copy()
    assert (stack.pop_obj(), len(stack), len(other)) == (2, 1, 2)


def test_frames_are_those_that_python_shows() -> None:
    converted, shown = (
        stack_frames.convert_stack(stack_frames.extract_stack()),
        traceback.extract_stack(),
    )
    assert [frame[2] for frame in converted] == [frame.name for frame in shown]
    assert converted[-1][stack_frames.TB_FILENAME] == __file__
    assert stack_frames.extract_stack(limit=0) == []
    (own,) = stack_frames.extract_stack(limit=1)
    (with_start,) = stack_frames.convert_stack([own], include_func_start_lineno=True)
    assert with_start[4] == own.func_start_lineno < own.lineno


@pytest.mark.parametrize("is_functional", [False, True])
def test_control_flow_alone_is_no_function(is_functional: bool) -> None:
    seen: list[bool] = []

    def body(i: Any) -> Any:
        def branch() -> Any:
            seen.append(functional_form.in_defun())
            return i + 1

        return tf.cond(i < 2, branch, lambda: tf.constant(9))

    def loop() -> Any:
        return tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])

    if is_functional:
        tf.enable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            loop()
            assert (set(seen), functional_form.in_defun()) == ({False}, False)
            seen.clear()
            tf.function(loop).get_concrete_function()
            assert set(seen) == {True}
    finally:
        tf.disable_control_flow_v2()


def test_debug_info_tells_the_lines_of_operations() -> None:
    with tf.Graph().as_default():
        op = tf.constant(1.0, name="x").op
        line = sys._getframe().f_lineno - 1
    info = create_graph_debug_info_def([("f/", op)])
    first = info.traces["f/x"].file_line_cols[0]
    assert (info.files[first.file_index], first.line) == (__file__, line)
    assert len(info.traces["f/x"].file_line_cols) <= 10
