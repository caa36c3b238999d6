"""What is in messages: a row of a model's inputs, or of its outputs.

json     an object with a value for each input (a plain value for a single one)
example  a tf.Example; as an input, for a model that parses them
tensor   a TensorProto: the row of the single input or output
raw      its bytes, little-endian, without a shape, which the signature must know
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.serving.calls import tensor_values
from tensorloom.serving.rest import json_requests, json_responses

if TYPE_CHECKING:
    from tensorloom.serving.manager.signature import Signature, Slot

#: (values of messages, signature) -> arrays by alias, with a row for each message.
Decode = Callable[[Sequence[bytes], "Signature"], dict[str, Any]]
#: (signature, arrays by alias) -> the value of a message for each row.
Encode = Callable[["Signature", Mapping[str, Any]], list[bytes]]


def _from_json(values: Sequence[bytes], signature: Signature) -> dict[str, Any]:
    try:
        rows = [json.loads(value) for value in values]
    except (ValueError, RecursionError) as error:
        raise _invalid(f"The message is no JSON: {error}") from None
    return json_requests.input_values({"instances": rows}, signature)


def _from_examples(values: Sequence[bytes], signature: Signature) -> dict[str, Any]:
    slot = _single(signature.inputs, "input")
    if slot.dtype.name != "string":
        raise _mismatch(
            f"Input '{slot.alias}' takes {slot.dtype.name}, and no tf.Examples"
        )
    array = np.empty(len(values), object)
    array[:] = values
    return {slot.alias: array}


def _from_tensors(values: Sequence[bytes], signature: Signature) -> dict[str, Any]:
    from google.protobuf.message import DecodeError

    from tensorloom.protos.tensor_pb2 import TensorProto

    slot = _single(signature.inputs, "input")
    try:
        protos = [TensorProto.FromString(value) for value in values]
    except DecodeError as error:
        raise _invalid(f"The message is no TensorProto: {error}") from None
    rows = [np.asarray(tensor_values.decode(proto, slot)) for proto in protos]
    if any(row.shape != rows[0].shape for row in rows):
        raise _invalid("The messages of a batch have different shapes")
    return {slot.alias: np.stack(rows)}


def _from_raw(values: Sequence[bytes], signature: Signature) -> dict[str, Any]:
    slot = _single(signature.inputs, "input")
    shape = slot.shape
    if slot.dtype.name == "string" or shape is None or None in shape[1:]:
        raise _mismatch(
            f"Input '{slot.alias}' has no rows of a known size: raw bytes do not do"
        )
    sizes = [int(size or 0) for size in shape[1:]]
    expected = int(np.prod(sizes, dtype=np.int64)) * slot.dtype.size
    for value in values:
        if len(value) != expected:
            raise _invalid(
                f"The message has {len(value)} bytes; a row of '{slot.alias}' has "
                f"{expected}"
            )
    flat = np.frombuffer(b"".join(values), slot.dtype.as_numpy_dtype)
    return {slot.alias: flat.reshape(len(values), *sizes)}


def _to_json(signature: Signature, outputs: Mapping[str, Any]) -> list[bytes]:
    return json_responses.row_objects(signature, outputs)


def _to_examples(signature: Signature, outputs: Mapping[str, Any]) -> list[bytes]:
    from tensorloom.protos.example_pb2 import Example

    found: list[bytes] = []
    for place in range(_rows(outputs)):
        example: Any = Example()
        for alias, value in outputs.items():
            _fill_feature(example.features.feature[alias], np.asarray(value[place]))
        found.append(example.SerializeToString())
    return found


def _fill_feature(feature: Any, row: Any) -> None:
    flat = row.reshape(-1)
    if row.dtype == object:
        feature.bytes_list.value.extend(flat.tolist())
    elif row.dtype.kind in "iub":
        feature.int64_list.value.extend(flat.astype(np.int64).tolist())
    else:
        feature.float_list.value.extend(flat.astype(np.float32).tolist())


def _to_tensors(signature: Signature, outputs: Mapping[str, Any]) -> list[bytes]:
    from tensorloom.protos.tensor_pb2 import TensorProto

    (alias,) = outputs
    found: list[bytes] = []
    for row in _array(outputs, alias):
        proto: Any = TensorProto()
        value = np.array(row, object) if isinstance(row, bytes) else np.asarray(row)
        tensor_values.encode(value, signature.outputs[alias].dtype, proto, True)
        found.append(proto.SerializeToString())
    return found


def _to_raw(signature: Signature, outputs: Mapping[str, Any]) -> list[bytes]:
    (alias,) = outputs
    array = _array(outputs, alias)
    if array.dtype == object:
        if array.ndim == 1:
            return list(array)
        raise _mismatch(f"Output '{alias}' has strings in rows: raw bytes do not do")
    return [row.tobytes() for row in array]


DECODERS: Final[dict[str, Decode]] = {
    "json": _from_json,
    "example": _from_examples,
    "tensor": _from_tensors,
    "raw": _from_raw,
}
ENCODERS: Final[dict[str, Encode]] = {
    "json": _to_json,
    "example": _to_examples,
    "tensor": _to_tensors,
    "raw": _to_raw,
}
# These have no place for a name.
_OF_ONE: Final = ("tensor", "raw")


def check(
    signature: Signature, decode: str, encode: str, aliases: Sequence[str]
) -> None:
    """Checks that a signature goes with the formats of a stream.

    Raises:
      errors.FailedPreconditionError: it does not: no message could be processed.
    """
    if decode != "json":
        slot = _single(signature.inputs, "input")
        if decode == "example" and slot.dtype.name != "string":
            raise _mismatch(
                f"Input '{slot.alias}' takes {slot.dtype.name}, and no tf.Examples"
            )
    if encode in _OF_ONE and len(aliases) != 1:
        raise _mismatch(
            f"The signature has the outputs {', '.join(aliases)}, and a message of "
            f"format {encode!r} holds one: choose it with --outputs"
        )


def _array(outputs: Mapping[str, Any], alias: str) -> Any:
    array = np.asarray(outputs[alias])
    if not array.ndim:
        raise _invalid(f"Output '{alias}' has no rows")
    return array


def _rows(outputs: Mapping[str, Any]) -> int:
    sizes = {len(_array(outputs, alias)) for alias in outputs}
    if len(sizes) != 1:
        raise _invalid("The outputs have different numbers of rows")
    return sizes.pop()


def _single(slots: Mapping[str, Slot], what: str) -> Slot:
    if len(slots) != 1:
        raise _mismatch(
            f"The signature has the {what}s {', '.join(slots)}: only JSON names them"
        )
    (slot,) = slots.values()
    return slot


def _invalid(message: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, message)


def _mismatch(message: str) -> errors.OpError:
    return errors.FailedPreconditionError(None, None, message)
