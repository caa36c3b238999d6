"""Host kernels of parsing: Example and SequenceExample messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text
from tensorloom.kernels.host.string_arrays import to_strings

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType

_LISTS = {dtypes.float32: "float_list", dtypes.int64: "int64_list"}
_KINDS = {"float_list": "float", "int64_list": "int64", "bytes_list": "string"}


def _values(feature: Any, dtype: DType, where: str) -> Any:
    """A feature's values, None when it has none.

    Raises:
      InvalidArgumentError: it is of another dtype.
    """
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    wanted = _LISTS.get(dtype, "bytes_list")
    if kind != wanted:
        raise invalid_argument(
            f"{where}.  Data types don't match. Expected type: {_KINDS[wanted]}"
            f"  but got type: {_KINDS[kind]}"
        )
    return getattr(feature, kind).value


def _array(values: Sequence[Any], dtype: DType) -> Any:
    if dtype == dtypes.string:
        return to_strings(list(values), (len(values),))
    return np.array(values, dtype.as_numpy_dtype)


def _message(kind: str, text: bytes, what: str) -> Any:
    from google.protobuf.message import DecodeError

    from tensorloom.protos import example_pb2

    try:
        return getattr(example_pb2, kind).FromString(text)
    except DecodeError:
        raise invalid_argument(what) from None


def _keys(values: Sequence[Any]) -> list[str]:
    return [value.item().decode() for value in values]


def _pick(features: Any, key: str) -> Any:
    # Looking up a missing key in a protobuf map would create it.
    return features[key] if key in features else None  # noqa: SIM401


# --- sparse and dense columns -----------------------------------------------------


def _sparse_column(rows: list[Any], dtype: DType) -> tuple[Any, Any, Any]:
    """(indices, values, shape) of lists of different lengths."""
    lengths = np.array([len(row) for row in rows], np.int64)
    total = int(lengths.sum())
    indices = np.empty((total, 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), lengths)
    starts = np.cumsum(lengths) - lengths
    indices[:, 1] = np.arange(total) - np.repeat(starts, lengths)
    widest = int(lengths.max()) if len(rows) else 0
    values = _array([x for row in rows for x in row], dtype)
    return indices, values, np.array([len(rows), widest], np.int64)


def _dense_row(
    values: Any, default: Any, shape: tuple[int, ...], dtype: DType, where: str
) -> Any:
    """One feature of a fixed shape."""
    if values is None:
        if not default.size and np.prod(shape, dtype=np.int64):
            raise invalid_argument(f"{where} is required but could not be found.")
        return np.broadcast_to(default, shape)
    if len(values) != np.prod(shape, dtype=np.int64):
        raise invalid_argument(
            f"{where}. Number of {dtype.name} values != expected.  values size: "
            f"{len(values)} but output shape: {shape_text(shape)}"
        )
    return _array(values, dtype).reshape(shape)


def _padded(
    rows: list[Any], inner: tuple[int, ...], default: Any, dtype: DType, where: str
) -> Any:
    """Sequences of steps of a fixed shape, padded to the longest."""
    width = int(np.prod(inner, dtype=np.int64))
    for row in rows:
        if width == 0 or len(row) % width:
            raise invalid_argument(
                f"{where}: Number of values ({len(row)}) is not a multiple of stride "
                f"length: {width}"
            )
    longest = max((len(row) // width for row in rows), default=0)
    fill = default.reshape(-1)[0] if default.size else dtype.as_numpy_dtype(0)
    result = np.full((len(rows), longest * width), fill, dtype.as_numpy_dtype)
    for i, row in enumerate(rows):
        result[i, : len(row)] = row
    return result.reshape(len(rows), longest, *inner)


def _rows(column: list[Any]) -> list[Any]:
    return [() if row is None else row for row in column]


# --- Example ----------------------------------------------------------------------


@host_kernel("ParseExample", large=True)
def parse_example(c: OpKernelConstruction) -> Compute:
    """The features of a batch."""
    sparse, dense = c["Nsparse"], c["Ndense"]
    columns = _Columns(c["sparse_types"], c["Tdense"], c["dense_shapes"])

    def compute(serialized: Any, names: Any, *rest: Any) -> tuple[Any, ...]:
        if serialized.ndim != 1:
            raise invalid_argument(
                "Expected serialized to be a vector, got shape: "
                + shape_text(serialized.shape)
            )
        shown = [x.decode(errors="replace") for x in names.reshape(-1).tolist()]
        if names.size and names.shape != serialized.shape:
            raise invalid_argument("Expected len(names) == len(serialized)")
        messages = [
            _message(
                "Example",
                text,
                f"Could not parse example input, value: "
                f"'{text.decode(errors='replace')}'",
            ).features.feature
            for text in serialized.tolist()
        ]
        sparse_keys, dense_keys = _keys(rest[:sparse]), _keys(rest[sparse:][:dense])
        defaults = rest[sparse + dense :]
        return columns.parse(messages, shown, sparse_keys, dense_keys, defaults)

    return compute


@host_kernel("ParseSingleExample", large=True)
def parse_single_example(c: OpKernelConstruction) -> Compute:
    """The features of one message."""
    columns = _Columns(c["sparse_types"], c["Tdense"], c["dense_shapes"])
    sparse_keys = [key.decode() for key in c["sparse_keys"]]
    dense_keys = [key.decode() for key in c["dense_keys"]]

    def compute(serialized: Any, *defaults: Any) -> tuple[Any, ...]:
        text = serialized.item()
        message = _message(
            "Example",
            text,
            f"Could not parse example input, value: '{text.decode(errors='replace')}'",
        )
        found = columns.parse(
            [message.features.feature], [], sparse_keys, dense_keys, defaults
        )
        return _unbatch(found, len(sparse_keys))

    return compute


def _unbatch(found: tuple[Any, ...], sparse: int) -> tuple[Any, ...]:
    """The outputs of a batch of one, without the batch."""
    return (
        *(indices[:, 1:] for indices in found[:sparse]),
        *found[sparse : 2 * sparse],
        *(shape[1:] for shape in found[2 * sparse : 3 * sparse]),
        *(_scalar(value[0]) for value in found[3 * sparse :]),
    )


def _scalar(value: Any) -> Any:
    return to_strings([value], ()) if isinstance(value, bytes) else value


class _Columns:
    """The dtypes and shapes of an op's outputs."""

    def __init__(
        self, sparse_types: Sequence[DType], dense_types: Sequence[DType], shapes: Any
    ) -> None:
        self.sparse_types, self.dense_types = list(sparse_types), list(dense_types)
        self.shapes = [shape.dims_tuple for shape in shapes]

    def parse(
        self,
        messages: list[Any],
        names: list[str],
        sparse_keys: list[str],
        dense_keys: list[str],
        defaults: Sequence[Any],
    ) -> tuple[Any, ...]:
        """Indices, values and shapes of the sparse features, then the dense ones."""

        def column(key: str, dtype: DType) -> list[Any]:
            found = []
            for i, message in enumerate(messages):
                feature = _pick(message, key)
                where = _where(names, i, key)
                found.append(
                    None if feature is None else _values(feature, dtype, where)
                )
            return found

        sparse = [
            _sparse_column(_rows(column(key, dtype)), dtype)
            for key, dtype in zip(sparse_keys, self.sparse_types, strict=True)
        ]
        dense = [
            self._dense(i, column(key, self.dense_types[i]), defaults[i], names, key)
            for i, key in enumerate(dense_keys)
        ]
        transposed = zip(*sparse, strict=True) if sparse else ()
        return (*(part for group in transposed for part in group), *dense)

    def _dense(
        self, i: int, column: list[Any], default: Any, names: list[str], key: str
    ) -> Any:
        shape, dtype = self.shapes[i], self.dense_types[i]
        default = np.asarray(default)
        if shape and shape[0] is None:
            where = f"Key: {key}"
            return _padded(_rows(column), shape[1:], default, dtype, where)
        result = np.empty((len(column), *shape), dtype.as_numpy_dtype)
        for row, values in enumerate(column):
            where = _where(names, row, key)
            if values is None:
                where = f"{where.partition(',')[0]}, Feature: {key} (data type: "
                where += f"{_name(dtype)})"
            result[row] = _dense_row(values, default, shape, dtype, where)[()]
        return result


def _name(dtype: DType) -> str:
    return "float" if dtype == dtypes.float32 else dtype.name


def _where(names: list[str], index: int, key: str) -> str:
    name = names[index] if names else "<unknown>"
    return f"Name: {name}, Key: {key}, Index: {index}"


# --- SequenceExample --------------------------------------------------------------


@host_kernel("ParseSingleSequenceExample", large=True)
def parse_single_sequence_example(c: OpKernelConstruction) -> Compute:
    """The context and the feature lists of one message."""
    counts = [
        c["Ncontext_sparse"],
        c["Ncontext_dense"],
        c["Nfeature_list_sparse"],
        c["Nfeature_list_dense"],
        c["Ncontext_dense"],
    ]
    context = _Columns(
        c["context_sparse_types"], c["Tcontext_dense"], c["context_dense_shapes"]
    )
    sparse_types = list(c["feature_list_sparse_types"])
    dense_types = list(c["feature_list_dense_types"])
    shapes = [shape.dims_tuple for shape in c["feature_list_dense_shapes"]]

    def compute(serialized: Any, missing: Any, *rest: Any) -> tuple[Any, ...]:
        groups, start = [], 0
        for count in counts:
            groups.append(rest[start : start + count])
            start += count
        name = rest[-1].item().decode() or "<unknown>"
        message = _message(
            "SequenceExample",
            serialized.item(),
            f"Name: {name}, Could not parse example input",
        )
        found = context.parse(
            [message.context.feature],
            [name],
            _keys(groups[0]),
            _keys(groups[1]),
            groups[4],
        )
        lists = message.feature_lists.feature_list
        sparse = [
            _sparse_column(_steps(lists, key, dtype, name), dtype)
            for key, dtype in zip(_keys(groups[2]), sparse_types, strict=True)
        ]
        empty = {key.decode() for key in missing.tolist()}
        dense = []
        for key, dtype, shape in zip(
            _keys(groups[3]), dense_types, shapes, strict=True
        ):
            if key not in lists and key not in empty:
                raise invalid_argument(
                    f"Name: {name}, Feature list '{key}' is required but could not be "
                    "found.  Did you mean to include it in "
                    "feature_list_dense_missing_assumed_empty or "
                    "feature_list_dense_defaults?"
                )
            dense.append(_step_rows(lists, key, dtype, shape, name))
        transposed = zip(*sparse, strict=True) if sparse else ()
        return (
            *_unbatch(found, counts[0]),
            *(part for group in transposed for part in group),
            *dense,
        )

    return compute


def _steps(lists: Any, key: str, dtype: DType, name: str) -> list[Any]:
    """The values of each step of a feature list; none where it is missing."""
    found = _pick(lists, key)
    steps = [] if found is None else found.feature
    return _rows(
        [
            _values(step, dtype, f"Name: {name}, Feature list: {key}, Index: {i}")
            for i, step in enumerate(steps)
        ]
    )


def _step_rows(
    lists: Any, key: str, dtype: DType, shape: tuple[int, ...], name: str
) -> Any:
    steps = _steps(lists, key, dtype, name)
    result = np.empty((len(steps), *shape), dtype.as_numpy_dtype)
    for i, values in enumerate(steps):
        where = f"Name: {name}, Key: {key}, Index: {i}"
        result[i] = _dense_row(values, np.empty(0), shape, dtype, where)[()]
    return result
