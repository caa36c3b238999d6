"""Host kernels of parsing: SequenceExample messages, a batch of them or one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host import example_columns as columns
from tensorloom.kernels.host.allocation import check_shape
from tensorloom.kernels.host.math_ops_errors import shape_text
from tensorloom.kernels.host.parsing_ops import (
    Features,
    check_names,
    scalar,
    transposed,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.dtypes import DType

_LISTS = {dtypes.float32: "float_list", dtypes.int64: "int64_list"}


def _pick(features: Any, key: bytes) -> Any:
    name = key.decode(errors="replace")
    # Looking up a missing key in a protobuf map would create it.
    return features[name] if name in features else None  # noqa: SIM401


def _is_of(feature: Any, dtype: DType) -> bool:
    kind = feature.WhichOneof("kind")
    return kind is None or kind == _LISTS.get(dtype, "bytes_list")


@dataclass
class _Steps:
    """A feature list of all messages: a column of steps, of which messages have some.

    `column` has a row for each step of each message; `counts` tells how many steps each
    message has.
    """

    column: columns.Column
    counts: NDArray[np.int64]


def _steps(
    lists: Sequence[Any], dtype: DType, mismatch: Callable[[int, int, Any], Exception]
) -> _Steps:
    """The steps of FeatureLists, None for a missing one.

    Args:
      mismatch: the error for a step of another dtype, from message, step and Feature.
    """
    features = []
    for row, found in enumerate(lists):
        for step, feature in enumerate([] if found is None else found.feature):
            if not _is_of(feature, dtype):
                raise mismatch(row, step, feature)
            features.append(feature)
    counts = [0 if found is None else len(found.feature) for found in lists]
    column = columns.message_column(features, dtype, lambda row: "")
    return _Steps(column, np.array(counts, np.int64))


# --- one message ------------------------------------------------------------------


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
    context = Features(
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
        text = serialized.item()
        message = columns.read_message("SequenceExample", text)
        if message is None:
            shown = text.decode(errors="replace")
            raise invalid_argument(f"Could not parse example input, value: '{shown}'")
        one = _Single(message, rest[-1].item().decode(errors="replace"))
        keys = [[key.item() for key in group] for group in groups[:4]]
        empty = set(missing.reshape(-1).tolist())
        return (
            *one.context(context, keys[0], keys[1], groups[4]),
            *transposed(
                [
                    one.sparse_list(*pair)
                    for pair in zip(keys[2], sparse_types, strict=True)
                ]
            ),
            *(
                one.dense_list(key, dtype, shape, key in empty)
                for key, dtype, shape in zip(keys[3], dense_types, shapes, strict=True)
            ),
        )

    return compute


class _Single:
    """One SequenceExample, and the words of errors about it."""

    def __init__(self, message: Any, name: str) -> None:
        self.features = message.context.feature
        self.lists = message.feature_lists.feature_list
        self.name = name

    def context(
        self,
        features: Features,
        sparse_keys: list[bytes],
        dense_keys: list[bytes],
        defaults: Sequence[Any],
    ) -> list[Any]:
        """The sparse and the dense outputs of the context."""
        sparse = [
            self._context_column(key, dtype)
            for key, dtype in zip(sparse_keys, features.sparse_types, strict=True)
        ]
        dense = [
            self._context_dense(key, dtype, shape, np.asarray(default))
            for key, dtype, shape, default in zip(
                dense_keys,
                features.dense_types,
                features.shapes,
                defaults,
                strict=True,
            )
        ]
        return [
            *(columns.ragged_indices(column.counts)[:, 1:] for column in sparse),
            *(column.values for column in sparse),
            *(column.counts for column in sparse),
            *dense,
        ]

    def _context_column(self, key: bytes, dtype: DType) -> columns.Column:
        feature = _pick(self.features, key)
        if feature is not None and not _is_of(feature, dtype):
            raise self._mismatch("Context feature", key, "", dtype, feature)
        return columns.message_column([feature], dtype, lambda row: "")

    def _context_dense(
        self, key: bytes, dtype: DType, shape: tuple[int, ...], default: Any
    ) -> Any:
        column, name = self._context_column(key, dtype), key.decode(errors="replace")
        width = int(np.prod(shape, dtype=np.int64))
        if not column.present[0]:
            if not default.size and width:
                raise invalid_argument(
                    f"Name: {self.name}, Context feature '{name}' is required but "
                    "could not be found."
                )
            return np.broadcast_to(default, shape) if default.ndim else default
        if column.counts[0] != width:
            raise self._count(name, "", dtype, int(column.counts[0]), shape)
        return scalar(column.values.reshape(shape)[()])

    def sparse_list(self, key: bytes, dtype: DType) -> tuple[Any, Any, Any]:
        """(indices, values, shape) of a feature list."""
        found = _steps(
            [_pick(self.lists, key)],
            dtype,
            lambda _, step, feature: self._mismatch(
                "Feature List", key, f", Index: {step}", dtype, feature
            ),
        )
        return columns.sparse_output(found.column)

    def dense_list(
        self, key: bytes, dtype: DType, shape: tuple[int, ...], may_miss: bool
    ) -> Any:
        """[steps, *shape] of a feature list."""
        given, name = _pick(self.lists, key), key.decode(errors="replace")
        if given is None and not may_miss:
            raise invalid_argument(
                f"Name: {self.name}, Feature list '{name}' is required but could not "
                "be found.  Did you mean to include it in "
                "feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        column = _steps(
            [given],
            dtype,
            lambda _, step, feature: self._mismatch(
                "Feature list", key, f", Index: {step}", dtype, feature
            ),
        ).column
        wrong = column.counts != np.prod(shape, dtype=np.int64)
        if wrong.any():
            step = int(np.argmax(wrong))
            count = int(column.counts[step])
            raise self._count(name, f", Index: {step}", dtype, count, shape)
        return column.values.reshape(len(column.counts), *shape)

    def _mismatch(
        self, what: str, key: bytes, index: str, dtype: DType, feature: Any
    ) -> Exception:
        return invalid_argument(
            f"Name: {self.name}, {what}: {key.decode(errors='replace')}{index}.  Data "
            f"types don't match. Expected type: {columns.type_name(dtype)}  Feature "
            f"is: {feature}"
        )

    def _count(
        self, name: str, index: str, dtype: DType, count: int, shape: tuple[int, ...]
    ) -> Exception:
        return invalid_argument(
            f"Name: {self.name}, Key: {name}{index}.  Number of "
            f"{columns.type_name(dtype)} values != expected.  values size: {count} but "
            f"output shape: {shape_text(shape)}"
        )


# --- a batch ----------------------------------------------------------------------


@dataclass
class _Wanted:
    """What an op is asked for, once for the context and once for the feature lists."""

    sparse_keys: list[bytes]
    dense_keys: list[bytes]
    ragged_keys: list[bytes]
    features: Features


class _Batch:
    """SequenceExamples [batch] and the words of errors about them."""

    def __init__(self, texts: list[bytes], names: list[str]) -> None:
        self.where = columns.Where(names)
        self.messages = []
        for row, text in enumerate(texts):
            message = columns.read_message("SequenceExample", text)
            if message is None:
                raise invalid_argument(
                    "Invalid protocol message input, example id: "
                    + self.where.name(row)
                )
            self.messages.append(message)

    def context(self, wanted: _Wanted, defaults: Sequence[Any]) -> tuple[Any, ...]:
        """The context's sparse, dense, ragged values and ragged splits."""
        features = wanted.features
        sparse = [
            columns.sparse_output(self._context_column(*pair))
            for pair in zip(wanted.sparse_keys, features.sparse_types, strict=True)
        ]
        dense = [
            self._context_dense(key, dtype, shape, np.asarray(default))
            for key, dtype, shape, default in zip(
                wanted.dense_keys,
                features.dense_types,
                features.shapes,
                defaults,
                strict=True,
            )
        ]
        ragged = [
            self._context_column(*pair)
            for pair in zip(wanted.ragged_keys, features.ragged_types, strict=True)
        ]
        splits = [
            columns.row_splits(column.counts, dtype)
            for column, dtype in zip(ragged, features.split_types, strict=True)
        ]
        return (*transposed(sparse), *dense, *(r.values for r in ragged), *splits)

    def _context_column(self, key: bytes, dtype: DType) -> columns.Column:
        found = [_pick(message.context.feature, key) for message in self.messages]
        for row, feature in enumerate(found):
            if feature is not None and not _is_of(feature, dtype):
                raise self._error("context", key, row)
        return columns.message_column(found, dtype, lambda row: "")

    def _error(self, what: str, key: bytes, row: int) -> Exception:
        return invalid_argument(
            f"Error in {what} feature {key.decode(errors='replace')} in example "
            + self.where.name(row)
        )

    def _context_dense(
        self, key: bytes, dtype: DType, shape: tuple[int, ...], default: Any
    ) -> Any:
        column, name = self._context_column(key, dtype), key.decode(errors="replace")
        width = int(np.prod(shape, dtype=np.int64))
        if not column.present.all() and not default.size and width:
            raise invalid_argument(
                f"Feature: {name} (data type: {columns.type_name(dtype)}) is required "
                "but could not be found."
            )
        if (column.counts[column.present] != width).any():
            raise invalid_argument(f"Unexpected shape error in feature {name}")
        return columns.dense_output(column, name, default, shape, dtype, self.where)

    def lists(self, wanted: _Wanted, may_miss: Sequence[bool]) -> tuple[Any, ...]:
        """Sparse and dense outputs, dense lengths, ragged values, both splits."""
        features = wanted.features
        sparse = [
            _sparse_steps(self._list(*pair))
            for pair in zip(wanted.sparse_keys, features.sparse_types, strict=True)
        ]
        dense = [
            self._dense_list(key, dtype, shape, missing)
            for key, dtype, shape, missing in zip(
                wanted.dense_keys,
                features.dense_types,
                features.shapes,
                may_miss,
                strict=True,
            )
        ]
        ragged = [
            self._list(*pair)
            for pair in zip(wanted.ragged_keys, features.ragged_types, strict=True)
        ]
        types = features.split_types
        outer = [
            columns.row_splits(r.counts, t) for r, t in zip(ragged, types, strict=True)
        ]
        inner = [
            columns.row_splits(r.column.counts, t)
            for r, t in zip(ragged, types, strict=True)
        ]
        return (
            *transposed(sparse),
            *transposed(dense),
            *(r.column.values for r in ragged),
            *outer,
            *inner,
        )

    def _list(self, key: bytes, dtype: DType) -> _Steps:
        return _steps(
            self._given(key),
            dtype,
            lambda row, step, feature: self._error("sequence", key, row),
        )

    def _given(self, key: bytes) -> list[Any]:
        return [_pick(m.feature_lists.feature_list, key) for m in self.messages]

    def _dense_list(
        self, key: bytes, dtype: DType, shape: tuple[int, ...], may_miss: bool
    ) -> tuple[Any, Any]:
        name = key.decode(errors="replace")
        for row, given in enumerate(self._given(key)):
            if given is None and not may_miss:
                raise invalid_argument(
                    f"Missing feature {name} in example {self.where.name(row)}"
                )
        found = self._list(key, dtype)
        width = int(np.prod(shape, dtype=np.int64))
        if (found.column.counts != width).any():
            raise invalid_argument(f"Unexpected shape error in feature {name}")
        rows = len(found.counts)
        longest = int(found.counts.max()) if rows else 0
        check_shape((rows, longest, width), dtype, "CPU:0")
        result = np.zeros((rows, longest, width), dtype.as_numpy_dtype)
        if dtype == dtypes.string:
            result.fill(b"")
        result[np.arange(longest) < found.counts[:, None]] = (
            found.column.values.reshape(-1, width)
        )
        return result.reshape(rows, longest, *shape), found.counts


def _sparse_steps(steps: _Steps) -> tuple[Any, Any, Any]:
    """(indices [n, 3], values, shape): message, step, place in the step."""
    places = columns.ragged_indices(steps.counts)
    inner = columns.ragged_indices(steps.column.counts)
    indices = np.concatenate([places[inner[:, 0]], inner[:, 1:]], axis=1)
    shape = np.concatenate(
        [
            columns.sparse_shape(steps.counts),
            columns.sparse_shape(steps.column.counts)[1:],
        ]
    )
    return indices, steps.column.values, shape


@host_kernel("ParseSequenceExample", large=True)
def parse_sequence_example(c: OpKernelConstruction) -> Compute:
    """The contexts and the feature lists of a batch."""
    context = _Wanted(
        list(c["context_sparse_keys"]), list(c["context_dense_keys"]), [], _context(c)
    )
    lists = _Wanted(
        list(c["feature_list_sparse_keys"]),
        list(c["feature_list_dense_keys"]),
        [],
        _feature_lists(c),
    )
    empty = set(c["feature_list_dense_missing_assumed_empty"])
    may_miss = [key in empty for key in lists.dense_keys]

    def compute(serialized: Any, names: Any, *defaults: Any) -> tuple[Any, ...]:
        batch = _batch(serialized, names)
        return (*batch.context(context, defaults), *batch.lists(lists, may_miss))

    return compute


def _context(c: OpKernelConstruction) -> Features:
    return Features(
        c["context_sparse_types"],
        c["Tcontext_dense"],
        c["context_dense_shapes"],
        c.get("context_ragged_value_types", ()),
        c.get("context_ragged_split_types", ()),
    )


def _feature_lists(c: OpKernelConstruction) -> Features:
    return Features(
        c["feature_list_sparse_types"],
        c["feature_list_dense_types"],
        c["feature_list_dense_shapes"],
        c.get("feature_list_ragged_value_types", ()),
        c.get("feature_list_ragged_split_types", ()),
    )


def _batch(serialized: Any, names: Any) -> _Batch:
    if serialized.ndim != 1:
        raise invalid_argument(
            "Expected serialized to be a vector, got shape: "
            + shape_text(serialized.shape)
        )
    return _Batch(serialized.tolist(), check_names(serialized, names))


@host_kernel("ParseSequenceExampleV2", large=True)
def parse_sequence_example_v2(c: OpKernelConstruction) -> Compute:
    """The contexts and the feature lists of a batch, or of one message."""
    context_features, list_features = _context(c), _feature_lists(c)

    def compute(serialized: Any, names: Any, *rest: Any) -> tuple[Any, ...]:
        groups = [keys.reshape(-1).tolist() for keys in rest[:6]]
        may_miss, defaults = rest[6].reshape(-1).tolist(), rest[7:]
        context = _Wanted(groups[0], groups[1], groups[2], context_features)
        lists = _Wanted(groups[3], groups[4], groups[5], list_features)
        batch = _batch(serialized.reshape(-1), names.reshape(-1))
        found = batch.context(context, defaults), batch.lists(lists, may_miss)
        if serialized.ndim:
            return (*found[0], *found[1])
        return _single_outputs(*found, context_features, list_features)

    return compute


def _single_outputs(
    context: tuple[Any, ...], lists: tuple[Any, ...], *features: Features
) -> tuple[Any, ...]:
    """The outputs of a batch of one, without the batch."""
    from tensorloom.kernels.host.parsing_ops import unbatched

    sparse, dense = len(features[1].sparse_types), len(features[1].dense_types)
    ragged = len(features[1].ragged_types)
    at = 3 * sparse
    return (
        *unbatched(context, features[0]),
        *(indices[:, 1:] for indices in lists[:sparse]),
        *lists[sparse : 2 * sparse],
        *(shape[1:] for shape in lists[2 * sparse : at]),
        *(value[0] for value in lists[at : at + dense]),
        *(lengths[0] for lengths in lists[at + dense : at + 2 * dense]),
        *lists[at + 2 * dense : at + 2 * dense + ragged],
        *(splits[:0] for splits in lists[at + 2 * dense + ragged :][:ragged]),
        *lists[at + 2 * dense + 2 * ragged :],
    )
