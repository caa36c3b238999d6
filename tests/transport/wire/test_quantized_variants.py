"""Quantized tensors inside variants keep their dtype on the wire and in files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.varint import decode_varint
from tensorloom.kernels.host.data.optional import Optional
from tensorloom.kernels.host.lists import list_ops
from tensorloom.kernels.torch.lists.tensor_list import TensorList
from tensorloom.protos.tensor_pb2 import TensorProto, VariantTensorDataProto
from tensorloom.storage.checkpoints import variants
from tensorloom.transport.wire import tensors

_ = list_ops  # registers how lists cross

QUANTIZED = ["qint8", "quint8", "qint16", "quint16", "qint32"]
MAKERS: dict[str, Any] = {
    "list": lambda dtype, items: TensorList(dtype, None, items, len(items)),
    "optional": lambda dtype, items: Optional(tuple(items), [dtype] * len(items)),
}


def _elements(value: Any) -> list[Any]:
    return list(
        value.elements() if isinstance(value, TensorList) else value.values or ()
    )


def _over_the_wire(value: Any) -> tuple[bytes, Any]:
    proto = TensorProto()
    tensors.encode(value, proto)
    _, start = decode_varint(proto.tensor_content, 0)
    return proto.tensor_content[start:], tensors.decode(proto)


def _through_a_file(value: Any) -> tuple[bytes, Any]:
    message = variants.encode(value)
    return message, variants.decode(message)


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("way", [_over_the_wire, _through_a_file])
def test_quantized_elements(way: Any, kind: str, name: str) -> None:
    dtype = dtypes.as_dtype(name)
    memory = dtypes.memory_dtype(dtype)
    value: Any = MAKERS[kind](dtype, [np.array([1, 2], memory), memory.type(3)])
    for _ in range(2):  # what has crossed once crosses again
        message, value = way(value)
        data = VariantTensorDataProto.FromString(message)
        assert [t.dtype for t in data.tensors] == [dtype.as_datatype_enum] * 2
        first, second = _elements(value)
        assert first.dtype == np.asarray(second).dtype == memory
        assert (first.tolist(), int(second)) == ([1, 2], 3)
