"""Host kernels of serialized sparse tensors, and of maps of them."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.runtime.resource import Resource, container_of
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.varint import encode_varint
from tensorloom.kernels.host.array.allocation import check_dimensions, check_memory
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.sparse.indices import check_order, check_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.types.dtypes import DType

# (indices, values, shape)
Parts = tuple[Any, Any, Any]


# --- rows and stacks ---------------------------------------------------------


def _in_rows(indices: Any, values: Any, shape: Any) -> tuple[Any, Any, list[int]]:
    """(indices and values row by row, where each row begins and the last one ends).

    The indices are without the first dimension.

    Raises:
      InvalidArgumentError: they do not make a sparse tensor in order, of two
        dimensions or more.
    """
    check_parts(indices, values, shape)
    if len(shape) < 2:
        raise invalid_argument(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}"
        )
    check_dimensions(tuple(shape.tolist()))
    check_order(indices, shape)
    count = int(shape[0])
    check_memory((count, 3), dtypes.string, "CPU:0")
    bounds = np.searchsorted(indices[:, 0], np.arange(count + 1))
    return indices[:, 1:], values, bounds.tolist()


def _rows(indices: Any, values: Any, shape: Any) -> list[Parts]:
    """Each row of a sparse tensor as one of a dimension less."""
    # Copies, that no one changes.
    places, elements, bounds = _in_rows(indices, values, shape)
    places, elements, rest = places.copy(), elements.copy(), shape[1:].copy()
    return [(places[a:b], elements[a:b], rest) for a, b in itertools.pairwise(bounds)]


def _stack(parts: Sequence[Parts], dtype: DType) -> Parts:
    """Sparse tensors of one rank as one of a dimension more."""
    if not parts:
        empty = np.empty(0, dtype.as_numpy_dtype)
        return np.zeros((0, 0), np.int64), empty, np.zeros(0, np.int64)
    rank = len(parts[0][2])
    for i, (_, _, shape) in enumerate(parts):
        if len(shape) != rank:
            raise invalid_argument(
                "Inconsistent shape across SparseTensors: rank prior to SparseTensor["
                f"{i}] was: {rank} but rank of SparseTensor[{i}] is: {len(shape)}"
            )
    indices = np.concatenate(
        [
            np.concatenate([np.full((len(places), 1), i), places], axis=1)
            for i, (places, _, _) in enumerate(parts)
        ]
    )
    values = np.concatenate([values for _, values, _ in parts])
    largest = np.max([shape for _, _, shape in parts], axis=0)
    shape = np.concatenate([[len(parts)], largest]).astype(np.int64)
    return indices.astype(np.int64), values, shape


# --- serialized --------------------------------------------------------------


def _encode(array: Any, dtype: DType) -> bytes:
    """A TensorProto whose contents are bytes, as TensorFlow's kernels write it."""
    content = _content(array, dtype)
    return _head(np.shape(array), dtype, len(content)) + content


def _content(array: Any, dtype: DType) -> bytes:
    if dtype == dtypes.string:
        texts = array.reshape(-1).tolist()
        return b"".join([encode_varint(len(t)) for t in texts] + texts)
    return np.ascontiguousarray(array).tobytes()


def _head(shape: Sequence[int], dtype: DType, size: int) -> bytes:
    """What stands before the contents of so many bytes."""
    dims = b"".join(
        b"\x12" + _prefixed(b"\x08" + encode_varint(d) if d else b"") for d in shape
    )
    result = b"\x08" + encode_varint(dtype.as_datatype_enum) + b"\x12" + _prefixed(dims)
    return result + (b"\x22" + encode_varint(size) if size else b"")


def _prefixed(data: bytes) -> bytes:
    return encode_varint(len(data)) + data


def _serialized(parts: Parts, kind: DType, as_variant: bool) -> list[Any]:
    types = (dtypes.int64, kind, dtypes.int64)
    if as_variant:
        return list(parts)
    return [_encode(part, t) for part, t in zip(parts, types, strict=True)]


def _decode(row: Sequence[Any], number: int, wanted: DType) -> Parts:
    """One sparse tensor from three strings or variants.

    Raises:
      InvalidArgumentError: they are not that, or of another dtype.
    """
    parts = [_part(value) for value in row]
    indices, values, shape = (array for array, _ in parts)
    if parts[1][1] != wanted:
        raise invalid_argument(
            f"Requested SparseTensor of type {_name(wanted)} but SparseTensor[{number}]"
            f".values.dtype() == {_name(parts[1][1])}"
        )
    for array, kind in (parts[0], parts[2]):
        if kind != dtypes.int64:
            raise invalid_argument(
                f"Expected int64 indices and shape of SparseTensor[{number}], got "
                f"{shape_text(array.shape)} of {kind.name}"
            )
    check_parts(indices, values, shape)
    return indices, values, shape


def _stacked(rows: list[list[Any]], wanted: DType) -> Parts:
    """The stack of sparse tensors. Raises as `_decode` and `_stack`."""
    texts = list(itertools.chain.from_iterable(rows))
    places = _joined(texts[::3], dtypes.int64)
    values = _joined(texts[1::3], wanted)
    shapes = _joined(texts[2::3], dtypes.int64)
    if places is None or values is None or shapes is None:
        return _stack([_decode(row, i, wanted) for i, row in enumerate(rows)], wanted)
    rank = len(shapes[0]) // len(rows)
    fits = {(rank,)}.issuperset(shapes[1])
    if not fits or places[1] != [(*count, rank) for count in values[1]]:
        return _stack([_decode(row, i, wanted) for i, row in enumerate(rows)], wanted)
    counts = [count for (count,) in values[1]]
    owners = np.repeat(np.arange(len(rows)), counts)
    largest = shapes[0].reshape(len(rows), rank).max(axis=0)
    return (
        np.column_stack([owners, places[0].reshape(len(owners), rank)]),
        values[0],
        np.append(len(rows), largest),
    )


def _joined(
    texts: list[Any], wanted: DType
) -> tuple[Any, list[tuple[int, ...]]] | None:
    """(the elements of serialized tensors one behind the other, their shapes).

    None unless all are written as `_encode` does, and numbers of that dtype. Each head
    is parsed once.
    """
    if not texts or wanted == dtypes.string or not isinstance(texts[0], bytes):
        return None
    known: dict[bytes, tuple[bytes, int, tuple[int, ...]]] = {}
    contents, shapes = [], []
    for text in texts:
        # Up to the contents: the dtype, and the shape with its length.
        key = text[: 4 + text[3]] if len(text) > 3 else b""
        found = known.get(key)
        if found is None:
            array, dtype = _part(text)
            head = _head(array.shape, dtype, array.nbytes)
            if dtype != wanted or not head.startswith(key) or not key:
                return None
            found = known[key] = head, len(head) + array.nbytes, array.shape
        head, size, shape = found
        if len(text) != size or not text.startswith(head):
            return None
        contents.append(text[len(head) :])
        shapes.append(shape)
    data = bytearray(b"".join(contents))
    return np.frombuffer(data, wanted.as_numpy_dtype), shapes


def _name(dtype: DType) -> str:
    return "float" if dtype == dtypes.float32 else dtype.name


def _part(value: Any) -> tuple[Any, DType]:
    if not isinstance(value, bytes):
        array = np.asarray(value)
        return array, dtypes.as_dtype(array.dtype)
    from google.protobuf.message import DecodeError

    from tensorloom.framework.types.tensor_proto import decode_tensor
    from tensorloom.protos import tensor_pb2

    try:
        proto = tensor_pb2.TensorProto.FromString(value)
    except DecodeError:
        raise invalid_argument("Could not parse serialized proto") from None
    return decode_tensor(proto), dtypes.as_dtype(proto.dtype)


@host_kernel("SerializeSparse", large=True)
def serialize_sparse(c: OpKernelConstruction) -> Compute:
    """The parts of a sparse tensor."""
    kind, as_variant = c["T"], c["out_type"] == dtypes.variant

    def compute(indices: Any, values: Any, shape: Any) -> Any:
        check_parts(indices, values, shape)
        return _vector(_serialized((indices, values, shape), kind, as_variant))

    return compute


def _vector(items: list[Any]) -> Any:
    result = np.empty(len(items), object)
    for i, item in enumerate(items):
        result[i] = item
    return result


@host_kernel("SerializeManySparse", large=True)
def serialize_many_sparse(c: OpKernelConstruction) -> Compute:
    """The parts of each row."""
    kind, as_variant = c["T"], c["out_type"] == dtypes.variant

    def compute(indices: Any, values: Any, shape: Any) -> Any:
        if as_variant or kind == dtypes.string:
            rows = _rows(indices, values, shape)
            flat = [x for row in rows for x in _serialized(row, kind, as_variant)]
        else:
            flat = _serialized_rows(indices, values, shape, kind)
        return _vector(flat).reshape(-1, 3)

    return compute


def _serialized_rows(indices: Any, values: Any, shape: Any, kind: DType) -> list[bytes]:
    """The three texts of each row, of numbers."""
    places, elements, bounds = _in_rows(indices, values, shape)
    rank = places.shape[1]
    data, wide = places.tobytes(), rank * places.itemsize
    content, size = elements.tobytes(), elements.itemsize
    last = _encode(shape[1:], dtypes.int64)

    @functools.cache
    def heads(count: int) -> tuple[bytes, bytes]:
        first = _head((count, rank), dtypes.int64, count * wide)
        return first, _head((count,), kind, count * size)

    texts: list[bytes] = []
    for a, b in itertools.pairwise(bounds):
        first, second = heads(b - a)
        texts += (
            first + data[a * wide : b * wide],
            second + content[a * size : b * size],
            last,
        )
    return texts


@host_kernel(["DeserializeSparse", "DeserializeManySparse"], large=True)
def deserialize_sparse(c: OpKernelConstruction) -> Compute:
    """A sparse tensor, or a stack of them."""
    wanted = c["dtype"]
    many = c.op == "DeserializeManySparse"

    def compute(serialized: Any) -> Parts:
        shape = serialized.shape
        if many and len(shape) != 2:
            raise invalid_argument(
                "Serialized sparse should be a matrix but received shape "
                + shape_text(shape)
            )
        if not shape or shape[-1] != 3:
            raise invalid_argument(
                "Serialized sparse should have 3 as the last dimension "
                + shape_text(shape)
            )
        rows = serialized.reshape(-1, 3).tolist()
        if len(shape) == 1:
            return _decode(rows[0], 0, wanted)
        indices, values, dense = _stacked(rows, wanted)
        if len(shape) == 2 or not len(dense):
            return indices, values, dense
        outer = np.stack(np.unravel_index(indices[:, 0], shape[:-1]), axis=1)
        places = np.concatenate([outer, indices[:, 1:]], axis=1)
        return places, values, np.concatenate([shape[:-1], dense[1:]])

    return compute


# --- maps --------------------------------------------------------------------


class SparseTensorsMap(Resource):
    """Sparse tensors by handle, each taken out once."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self._lock = threading.Lock()
        self._tensors: dict[int, Parts] = {}
        self._next = 0

    def add(self, parts: Parts) -> int:
        """The handle under which it is put."""
        with self._lock:
            handle = self._next
            self._next += 1
            self._tensors[handle] = parts
        return handle

    def take(self, handles: list[int]) -> list[Parts]:
        """Takes tensors out.

        Raises:
          InvalidArgumentError: there is none with such a handle.
        """
        found = []
        with self._lock:
            for handle in handles:
                if handle not in self._tensors:
                    raise invalid_argument(
                        f"Unable to find SparseTensor: {handle} in map: {self.name}"
                    )
                found.append(self._tensors.pop(handle))
        return found


def _map(c: OpKernelConstruction) -> Callable[[], SparseTensorsMap]:
    assert c.resources is not None
    resources = c.resources
    container = container_of(c["container"])
    name = c["shared_name"].decode() or c.node_name

    def find() -> SparseTensorsMap:
        return resources.lookup_or_create(
            container, name, SparseTensorsMap, lambda: SparseTensorsMap(container, name)
        )

    return find


@host_kernel("AddSparseToTensorsMap", large=True)
def add_sparse_to_tensors_map(c: OpKernelConstruction) -> Compute:
    """Puts a sparse tensor into a map."""
    find = _map(c)

    def compute(indices: Any, values: Any, shape: Any) -> Any:
        check_parts(indices, values, shape)
        check_dimensions(tuple(shape.tolist()))
        # Kept beyond the step: copies that no one changes.
        return np.int64(find().add((indices.copy(), values.copy(), shape.copy())))

    return compute


@host_kernel("AddManySparseToTensorsMap", large=True)
def add_many_sparse_to_tensors_map(c: OpKernelConstruction) -> Compute:
    """Puts the rows of a sparse tensor into a map."""
    find = _map(c)

    def compute(indices: Any, values: Any, shape: Any) -> Any:
        rows = _rows(indices, values, shape)
        table = find()
        return np.array([table.add(row) for row in rows], np.int64)

    return compute


@host_kernel("TakeManySparseFromTensorsMap", large=True)
def take_many_sparse_from_tensors_map(c: OpKernelConstruction) -> Compute:
    """Takes sparse tensors out of a map."""
    find, wanted = _map(c), c["dtype"]

    def compute(handles: Any) -> Parts:
        found = find().take(handles.tolist())
        for i, (_, values, shape) in enumerate(found):
            rank = len(found[0][2])
            if len(shape) != rank:  # told with the dimension of the batch
                raise invalid_argument(
                    "Inconsistent rank across SparseTensors: rank prior to "
                    f"SparseTensor[{i}] was: {rank + 1} but rank of SparseTensor[{i}] "
                    f"is: {len(shape) + 1}"
                )
            if values.dtype != np.dtype(wanted.as_numpy_dtype):
                raise invalid_argument(
                    f"Requested SparseTensor of type {_name(wanted)} but SparseTensor["
                    f"{i}].values.dtype() == {values.dtype}"
                )
        return _stack(found, wanted)

    return compute
