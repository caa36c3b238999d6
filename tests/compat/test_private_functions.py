"""What libraries for TensorFlow 1 take from its private modules."""

from __future__ import annotations

import threading
import zlib
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.program import program_flags
from tensorloom.compat.internals import graph_functions, shape_functions
from tensorloom.compat.internals.build_info import bfloat16_type
from tensorloom.compat.internals.events_writer import EventsWriter
from tensorloom.data.specs import register_converter, spec_of_value
from tensorloom.framework.devices.device_merge import merge_device
from tensorloom.framework.devices.device_spec import DeviceSpecV2, check_valid
from tensorloom.framework.registry import op_statistics
from tensorloom.keras.smart_cond import smart_case
from tensorloom.storage.files import gfile
from tensorloom.train.optimizers.moving_averages import weighted_moving_average

if TYPE_CHECKING:
    from pathlib import Path


def test_a_node_def_is_made_of_its_parts() -> None:
    attr = tf.AttrValue(i=3)
    made = graph_functions.node_def("Op", "name", tf.DeviceSpec(job="ps"), {"n": attr})
    assert (made.op, made.name, made.device) == ("Op", "name", "/job:ps")
    assert made.attr["n"].i == 3
    placed = graph_functions.node_def("Op", "name", lambda node: f"/job:{node.name}")
    assert placed.device == "/job:name"
    assert graph_functions.node_def("Op", "name").device == ""


def test_the_stacks_show_what_is_default_in_this_thread() -> None:
    graphs = graph_functions._default_graph_stack
    before = list(graphs.stack)
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        assert graphs.get_default() is graph
        assert graph_functions.has_default_graph()
        assert graph_functions._default_session_stack.get_default() is session
        seen: list[bool] = []
        other = threading.Thread(target=lambda: seen.append(graphs.is_cleared()))
        other.start()
        other.join()
        assert seen == [True]
    assert graphs.stack == before


def test_shape_functions_of_programs_are_taken_and_not_needed() -> None:
    def shape(op: Any) -> Any:
        return op

    assert graph_functions.RegisterShape("AnOp")(shape) is shape
    with pytest.raises(TypeError, match="callable"):
        graph_functions.RegisterShape("AnOp")(3)  # type: ignore[arg-type]
    x = tf.constant([1, 2])
    assert graph_functions.call_cpp_shape_fn(x.op)["shapes"] == [x.shape]


def test_a_name_scope_of_later_versions_is_entered_again() -> None:
    outer = graph_functions.NameScopeV2("outer")
    with tf.Graph().as_default():
        with outer as first, outer as second:
            assert (first, second) == ("outer/", "outer/outer/")
        with outer as third:
            assert third == "outer_1/"
    assert outer.name == "outer"
    with pytest.raises(ValueError, match="must be a string"):
        graph_functions.NameScopeV2(3)  # type: ignore[arg-type]


def test_statistics_of_ops() -> None:
    @op_statistics.RegisterStatistics("AnOpOfThisTest", "flops")
    def flops(graph: Any, node: Any) -> op_statistics.OpStats:
        return op_statistics.OpStats("flops", len(node.name))

    node = graph_functions.node_def("AnOpOfThisTest", "four")
    total = op_statistics.OpStats("flops")
    for _ in range(2):
        total += graph_functions.get_stats_for_node_def(None, node, "flops")
    assert total.value == 8
    assert graph_functions.get_stats_for_node_def(None, node, "bytes").value is None
    with pytest.raises(KeyError, match="AnOpOfThisTest"):
        op_statistics.RegisterStatistics("AnOpOfThisTest", "flops")(flops)
    with pytest.raises(ValueError, match="of type flops to one of bytes"):
        total += op_statistics.OpStats("bytes", 1)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1, 2], tf.Tensor),
        (tf.SparseTensorValue([[0]], [1.0], [1]), tf.SparseTensor),
    ],
)
def test_a_tensor_or_a_composite_one(value: Any, kind: type) -> None:
    if kind is tf.SparseTensor:
        value = tf.SparseTensor(*value)
    found = graph_functions.convert_to_tensor_or_composite(value)
    assert isinstance(found, kind)
    if kind is tf.SparseTensor:
        with pytest.raises(ValueError, match="requested dtype int32"):
            graph_functions.convert_to_tensor_or_composite(value, tf.int32)


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ([5], [], [5]),
        ([5, 1], [7], [5, 7]),
        ([None, 3], [1], [None, 3]),
        (None, [3], None),
        ([5], [7], "no"),
        ([2, 5], [3, 5], "no"),
    ],
)
def test_shapes_broadcast(a: Any, b: Any, both: Any) -> None:
    x, y = tf.TensorShape(a), tf.TensorShape(b)
    if both == "no":
        with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
            shape_functions.broadcast_shape(x, y)
    else:
        found = shape_functions.broadcast_shape(x, y)
        assert found.as_list() == both if both is not None else found.ndims is None
    compatible = both != "no" and a is not None and b is not None
    assert shape_functions.is_broadcast_compatible(x, y) is compatible


def test_the_shape_of_a_tensor_proto() -> None:
    proto = tf.make_tensor_proto([[1, 2]])
    assert shape_functions.shape_equals(proto, [1, 2])
    assert not shape_functions.shape_equals(proto, [2, 1])
    assert shape_functions.shape_equals(proto, tf.TensorShape([1, 2]).as_proto())
    with pytest.raises(TypeError, match="list or tuple"):
        shape_functions.shape_equals(proto, 3)


@pytest.mark.parametrize(
    ("shape", "value"),
    [([tf.Dimension(1), 2], [1, 2]), ((), []), (tf.TensorShape([3]), [3])],
)
def test_a_shape_as_a_tensor(shape: Any, value: list[int]) -> None:
    tensor = shape_functions.shape_tensor(shape)
    assert tensor.dtype == tf.int32
    with tf.Session() as session:
        assert session.run(tensor).tolist() == value


def test_a_device_spec_that_does_not_change() -> None:
    spec = DeviceSpecV2.from_string("/job:a/gpu:1")
    with pytest.raises(AttributeError):
        spec.job = "b"  # type: ignore[misc]
    assert not hasattr(spec, "merge_from")
    other = spec.parse_from_string("/job:b")
    assert (spec.job, other.job) == ("a", "b")
    merged = spec.make_merged_spec(DeviceSpecV2(task=2))
    assert merged.to_string() == "/job:a/task:2/device:GPU:1"
    assert isinstance(tf.DeviceSpec(), DeviceSpecV2)
    check_valid("/job:a")
    with pytest.raises(ValueError, match="invalid literal"):
        check_valid("/task:one")


def test_merged_devices_fill_in_what_inner_ones_leave() -> None:
    with (
        tf.Graph().as_default(),
        tf.device(merge_device("/device:GPU:0")),
        tf.device(merge_device("/job:worker")),
    ):
        x = tf.constant(1)
    assert x.device == "/job:worker/device:GPU:0"


class _Pair:
    def __init__(self, x: Any) -> None:
        self.x = x


class _Special(_Pair):
    pass


def test_a_class_of_a_program_says_its_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorloom.data.specs._CONVERTERS", [])
    register_converter(_Pair, lambda pair: tf.TensorSpec([pair.x], tf.int32))
    assert spec_of_value(_Pair(3)).shape.as_list() == [3]  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="_Special"):
        spec_of_value(_Special(3))
    register_converter(_Pair, lambda pair: tf.TensorSpec([], tf.int32), True)
    assert spec_of_value(_Special(3)).shape.ndims == 0  # type: ignore[attr-defined]


def test_a_case_leaves_out_what_is_known() -> None:
    def never() -> Any:
        raise AssertionError("this branch is never built")

    x = tf.placeholder(tf.int32, [])
    pairs = [
        (x > 1, lambda: tf.constant(1)),
        (tf.constant(10) < 1, never),  # what follows from constants is known
        (False, never),
        (True, lambda: tf.constant(2)),
    ]
    found = smart_case(pairs, default=never)
    with tf.Session() as session:
        assert [session.run(found, {x: value}) for value in (2, 0)] == [1, 2]
    with pytest.raises(TypeError, match="Tensor or bool"):
        smart_case([("yes", never)])


def test_the_name_and_the_events_of_an_events_writer(tmp_path: Path) -> None:
    writer = EventsWriter(str(tmp_path / "events").encode())
    name = writer.FileName().decode()
    writer.WriteEvent(tf.Event(step=3))
    writer.Close()
    assert [event.step for event in tf.train.summary_iterator(name)] == [0, 3]
    with pytest.raises(TypeError, match="Event"):
        writer.WriteEvent("event")  # type: ignore[arg-type]


@pytest.mark.parametrize("block_size", [3, 100, -1])
def test_files_are_compared_and_summed(tmp_path: Path, block_size: int) -> None:
    names = [str(tmp_path / name) for name in "abc"]
    contents = b"ten bytes.", b"ten bytes.", b"ten bytes!"
    for name, data in zip(names, contents, strict=True):
        with tf.gfile.GFile(name, "wb") as file:
            file.write(data)
    assert gfile.filecmp(names[0], names[1])
    assert not gfile.filecmp(names[0], names[2])
    expected = hex(zlib.crc32(contents[0]))
    assert gfile.file_crc32(names[0], block_size) == expected


@pytest.mark.parametrize(("truediv", "expected"), [(True, 12.0), (False, 12.0)])
def test_a_weighted_moving_average(truediv: bool, expected: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, weight = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        average = weighted_moving_average(value, 0.5, weight, truediv)
        names = {variable.op.name for variable in tf.global_variables()}
        assert names == {
            "WeightedMovingAvg/value_x_weight",
            "WeightedMovingAvg/weight",
        }
        session.run(tf.global_variables_initializer())
        session.run(average, {value: 10.0, weight: 1.0})
        # (10 / 2 / 2 + 13 / 2 * 1) / (1 / 2 / 2 + 1 / 2 * 1)
        found = session.run(average, {value: 13.0, weight: 1.0})
    np.testing.assert_allclose(found, expected)


def test_flags_have_their_older_names() -> None:
    values = program_flags.FlagValues()
    kinds: dict[Any, Any] = {
        program_flags.define_string: "text",
        program_flags.define_integer: 3,
        program_flags.define_float: 0.5,
        program_flags.define_bool: True,
    }
    for number, (define, default) in enumerate(kinds.items()):
        define(
            flag_name=f"flag{number}",
            default_value=default,
            docstring="a flag",
            flag_values=values,
        )
    values(["program", "--flag1=4", "--noflag3"])
    assert list(values.flag_values_dict().values()) == ["text", 4, 0.5, False]
    assert "flag0" not in program_flags.FLAGS
    del values.flag0
    values(["program"])
    with pytest.raises(AttributeError, match="flag0"):
        _ = values.flag0


def test_a_flag_is_an_object_of_its_own() -> None:
    values = program_flags.FlagValues()
    program_flags.define_integer("steps", 3, "how many", flag_values=values)
    values(["program", "--steps=4"])
    flag = values["steps"]
    assert (flag.value, flag.default, flag.help, flag.present) == (4, 3, "how many", 1)
    flag.value = 5
    assert values.steps == 5
    parts = program_flags.ArgumentParser(), program_flags.ArgumentSerializer()
    fruit = program_flags.Flag(*parts, "fruit", "apple", "a fruit")
    values["fruit"] = fruit
    assert values["fruit"] is fruit
    values(["program", "--fruit=pear"])
    assert values.fruit == "pear"
    assert (len(values), list(values), dir(values)) == (
        2,
        ["steps", "fruit"],
        ["fruit", "steps"],
    )
    with pytest.raises(KeyError):
        values["colour"]


def test_the_class_of_bfloat16() -> None:
    assert bfloat16_type() is ml_dtypes.bfloat16
