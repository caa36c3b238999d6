"""Variants between tasks, in TensorFlow's messages and on the socket."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.data.optional import Optional
from tensorloom.kernels.host.lists import list_ops
from tensorloom.kernels.torch.lists.tensor_list import UNSET, TensorList
from tensorloom.protos.tensor_pb2 import TensorProto
from tensorloom.transport.wire import packing, tensors

_ = list_ops  # registers how lists cross


def through_message(value: Any) -> Any:
    proto = TensorProto()
    tensors.encode(value, proto)
    return tensors.decode(TensorProto.FromString(proto.SerializeToString()))


def through_socket(value: Any) -> Any:
    buffers, _ = packing.pack([value])
    body = np.frombuffer(b"".join(bytes(b) for b in buffers), np.uint8)
    return packing.unpack(body)[0]


WAYS = pytest.mark.parametrize("through", [through_message, through_socket])


@WAYS
def test_lists(through: Any) -> None:
    inner = TensorList(dtypes.int32, (), [np.int32(5)], 1)
    items = [np.ones([2], np.float32), UNSET, np.zeros([2], np.float32)]
    value = TensorList(dtypes.float32, (2,), items, 3, 7)
    found = through(value)
    assert (found.element_dtype, found.element_shape) == (dtypes.float32, (2,))
    assert (found.length, found.max_elements) == (3, 7)
    assert found.at(1) is UNSET
    np.testing.assert_array_equal(found.at(0), [1.0, 1.0])
    nested = through(TensorList(dtypes.variant, None, [inner], 1))
    assert nested.max_elements == -1
    assert nested.element_shape is None
    assert nested.at(0).at(0) == 5


@WAYS
def test_optionals_and_nothing(through: Any) -> None:
    assert through(None) is None
    assert through(Optional(None)).values is None
    types = [dtypes.int32, dtypes.string]
    values = through(Optional((np.int32(3), np.array(b"x", object)), types)).values
    assert values[0] == 3
    assert values[1] == np.array(b"x", object)


@pytest.mark.parametrize(
    "fields",
    [
        {"tensor_content": b"\xff"},
        {"tensor_content": b"\x05\x00"},
        {"variant_val": [{"type_name": "tensorflow::TensorList", "metadata": b"\xff"}]},
        {"variant_val": [{"type_name": "tensorflow::data::Optional"}]},
    ],
)
def test_malformed_messages(fields: dict[str, Any]) -> None:
    proto = TensorProto(dtype=dtypes.variant.as_datatype_enum, **fields)
    with pytest.raises(errors.InvalidArgumentError):
        tensors.decode(proto)


def test_types_that_nobody_knows() -> None:
    proto = TensorProto(dtype=dtypes.variant.as_datatype_enum)
    proto.variant_val.add(type_name="x::Y")
    with pytest.raises(errors.UnimplementedError, match="x::Y"):
        tensors.decode(proto)
