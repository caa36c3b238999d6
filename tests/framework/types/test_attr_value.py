"""Decoded attr values and AttrValue messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.framework.types.attr_value import (
    AttrPlaceholder,
    NameAttrList,
    attrs_from_proto,
)
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.protos.attr_value_pb2 import AttrValue

# Value, field of the message that holds it.
VALUES: list[tuple[Any, str]] = [
    (b"a\xff", "s"),
    (b"", "s"),
    (7, "i"),
    (-(2**63), "i"),
    (True, "b"),
    (False, "b"),
    (1.5, "f"),
    (dtypes.float32_ref, "type"),
    (TensorShape([1, None]), "shape"),
    (TensorShape(None), "shape"),
    (TensorShape([]), "shape"),
    (np.array([[1, 2]]), "tensor"),
    (np.array(1.5, np.float32), "tensor"),
    (NameAttrList("f", {"T": dtypes.int32, "n": [1]}), "func"),
    (AttrPlaceholder("T"), "placeholder"),
    ([], "list"),
    ([1, 2], "list"),
    ([True, False], "list"),
    ([0.5], "list"),
    ([b"a", b"b"], "list"),
    ([dtypes.int8, dtypes.string], "list"),
    ([TensorShape([2]), TensorShape(None)], "list"),
    ([np.array([1]), np.array([b"x"], object)], "list"),
    ([NameAttrList("f"), NameAttrList("g")], "list"),
]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, TensorShape):
        return bool(a.dims_tuple == b.dims_tuple)
    return bool(type(a) is type(b) and a == b)


@pytest.mark.parametrize(("value", "kind"), VALUES, ids=repr)
def test_there_and_back(value: Any, kind: str) -> None:
    proto = attr_value.to_proto(value)
    assert proto.WhichOneof("value") == kind
    received = AttrValue.FromString(proto.SerializeToString())
    assert same(value, attr_value.from_proto(received))


def test_text_and_numpy_numbers_are_taken() -> None:
    assert attr_value.to_proto("é").s == "é".encode()
    assert attr_value.to_proto(np.int64(3)).i == 3
    assert attr_value.to_proto(np.bool_(True)).b is True
    assert attr_value.to_proto(np.float32(0.5)).f == 0.5
    assert attr_value.to_proto((1, 2)).list.i == [1, 2]


def test_nothing_is_none() -> None:
    assert attr_value.from_proto(AttrValue()) is None
    assert attr_value.to_proto(None) == AttrValue()


def test_floats_have_the_precision_of_the_message() -> None:
    assert attr_value.from_proto(attr_value.to_proto(0.1)) == float(np.float32(0.1))


def test_a_decoded_tensor_is_read_only() -> None:
    array = attr_value.from_proto(attr_value.to_proto(np.array([1, 2])))
    assert not array.flags.writeable


@pytest.mark.parametrize("value", [object(), 1j, {"a": 1}, [object()]])
def test_refuses_what_is_no_attr_value(value: Any) -> None:
    with pytest.raises(TypeError, match="is not an attr value"):
        attr_value.to_proto(value)


def test_an_int_beyond_64_bits_is_refused() -> None:
    with pytest.raises(ValueError, match=r"out of range|too large"):
        attr_value.to_proto(2**64)


def _malformed() -> list[tuple[AttrValue, str]]:
    mixed = AttrValue()
    mixed.list.i.append(1)
    mixed.list.f.append(1)
    shape = AttrValue()
    shape.shape.dim.add().size = -3
    tensor = AttrValue()
    tensor.tensor.dtype = 1
    tensor.tensor.tensor_content = b"abc"
    inner = AttrValue()
    inner.func.attr["T"].type = 99
    return [
        (mixed, "more than one type"),
        (AttrValue(type=99), "Unknown data type 99"),
        (AttrValue(type=0), "Unknown data type 0"),
        (shape, "must be >= 0"),
        (tensor, "3 bytes"),
        (inner, "Attr 'T': Unknown data type 99"),
    ]


@pytest.mark.parametrize(("proto", "message"), _malformed())
def test_refuses_malformed_messages(proto: AttrValue, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        attr_value.from_proto(proto)


def test_functions_with_attrs_can_be_keys() -> None:
    assert hash(NameAttrList("f", {"n": [1]})) == hash(NameAttrList("f", {"n": [1]}))


def test_sizes_that_stand_for_unknown_ones_in_notes() -> None:
    # As in graphs that Grappler optimized.
    shapes = AttrValue()
    text_format.Parse("list{shape{dim{size:-4} dim{size:3}} shape{}}", shapes)
    one = AttrValue()
    text_format.Parse("shape{dim{size:-9}}", one)
    decoded = attrs_from_proto({"_input_shapes": shapes, "_symbol": one})
    assert [s.dims_tuple for s in decoded["_input_shapes"]] == [(None, 3), ()]
    assert decoded["_symbol"].dims_tuple == (None,)
    assert shapes.list.shape[0].dim[0].size == -4


@pytest.mark.parametrize("name", ["shape", "_output_shapes"])
def test_sizes_below_minus_one_of_others_are_refused(name: str) -> None:
    proto = AttrValue()
    text_format.Parse("list{shape{dim{size:-4}}}", proto)
    with pytest.raises(InvalidArgumentError, match=f"Attr '{name}': Dimension -4"):
        attrs_from_proto({name: proto})
