"""Host kernels of parsing: a batch of SequenceExample messages."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.parsing import example_columns as columns
from tensorloom.kernels.host.parsing import example_wire as wire
from tensorloom.kernels.host.parsing.parsing_ops import (
    Features,
    check_names,
    transposed,
)
from tensorloom.kernels.host.parsing.sequence_steps import Steps, is_of, pick, steps_of
from tensorloom.kernels.host.strings.spans import spans_of

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@dataclass
class _Wanted:
    """What an op is asked for, once for the context and once for the feature lists."""

    sparse_keys: list[bytes]
    dense_keys: list[bytes]
    ragged_keys: list[bytes]
    features: Features

    def keys(self) -> list[bytes]:
        """All of them, each once."""
        every = (*self.sparse_keys, *self.dense_keys, *self.ragged_keys)
        return list(dict.fromkeys(every))


class _Batch:
    """SequenceExamples [batch] and the words of errors about them."""

    def __init__(
        self, texts: Any, names: list[str], context: _Wanted, lists: _Wanted
    ) -> None:
        self.where = columns.Where(names)
        self._texts, spans = texts, spans_of(texts)
        self._wanted = {wire.CONTEXT: context, wire.FEATURE_LISTS: lists}
        self._walks = {
            part: wire.Walk(spans, wanted.keys(), part, only=False)
            for part, wanted in self._wanted.items()
        }
        odd = np.logical_or(*(walk.odd for walk in self._walks.values()))
        self._is_odd = bool(odd.any())
        for row in np.flatnonzero(odd).tolist():
            self._message(row)

    def _message(self, row: int) -> Any:
        message = columns.read_message("SequenceExample", self._texts[row])
        if message is None:
            raise invalid_argument(
                "Invalid protocol message input, example id: " + self.where.name(row)
            )
        return message

    @functools.cached_property
    def _messages(self) -> list[Any]:
        """What they are read from with protobuf if their bytes are not regular."""
        return [self._message(row) for row in range(len(self._texts))]

    def _walk(self, part: int, key: bytes) -> tuple[wire.Walk, int]:
        """(the walk over a part of all messages, the number of a key in it).

        Raises:
          Irregular: a message is odd.
        """
        if self._is_odd:
            raise wire.Irregular
        return self._walks[part], self._wanted[part].keys().index(key)

    def context(self, defaults: Sequence[Any]) -> tuple[Any, ...]:
        """The context's sparse, dense, ragged values and ragged splits."""
        wanted = self._wanted[wire.CONTEXT]
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
        with suppress(wire.Irregular):
            walk, index = self._walk(wire.CONTEXT, key)
            return columns.Column(*walk.lists(index).column(dtype))
        found = [pick(message.context.feature, key) for message in self._messages]
        for row, feature in enumerate(found):
            if feature is not None and not is_of(feature, dtype):
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
        wrong = column.counts[column.present & (column.counts != width)]
        if len(wrong):
            raise invalid_argument(
                f"Inconsistent number of elements for feature {name}: {wrong[0]} vs "
                f"{width}"
            )
        return columns.dense_output(column, name, default, shape, dtype, self.where)

    def lists(self, may_miss: Sequence[bool]) -> tuple[Any, ...]:
        """Sparse and dense outputs, dense lengths, ragged values, both splits."""
        wanted = self._wanted[wire.FEATURE_LISTS]
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

    def _list(self, key: bytes, dtype: DType) -> Steps:
        with suppress(wire.Irregular):
            walk, index = self._walk(wire.FEATURE_LISTS, key)
            lists, counts = walk.steps(index)
            return Steps(columns.Column(*lists.column(dtype)), counts)
        return steps_of(
            self._given(key),
            dtype,
            lambda row, step, feature: self._error("sequence", key, row),
        )

    def _given(self, key: bytes) -> list[Any]:
        return [pick(m.feature_lists.feature_list, key) for m in self._messages]

    def _is_there(self, key: bytes) -> Any:
        """Which messages have a feature list."""
        with suppress(wire.Irregular):
            walk, index = self._walk(wire.FEATURE_LISTS, key)
            return walk.has(index)
        return np.array([given is not None for given in self._given(key)])

    def _dense_list(
        self, key: bytes, dtype: DType, shape: tuple[int, ...], may_miss: bool
    ) -> tuple[Any, Any]:
        name = key.decode(errors="replace")
        if not may_miss and not (is_there := self._is_there(key)).all():
            row = int(is_there.argmin())
            raise invalid_argument(
                f"Missing feature {name} in example {self.where.name(row)}"
            )
        found = self._list(key, dtype)
        width = int(np.prod(shape, dtype=np.int64))
        is_wrong = found.column.counts != width
        if is_wrong.any():
            row = int(
                np.repeat(np.arange(len(found.counts)), found.counts)[is_wrong][0]
            )
            raise invalid_argument(
                f"Unexpected number of elements in feature {name}, example "
                + self.where.name(row)
            )
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


def _sparse_steps(steps: Steps) -> tuple[Any, Any, Any]:
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
        batch = _batch(serialized, names, context, lists)
        return (*batch.context(defaults), *batch.lists(may_miss))

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


def _batch(serialized: Any, names: Any, context: _Wanted, lists: _Wanted) -> _Batch:
    if serialized.ndim != 1:
        raise invalid_argument(
            "Expected serialized to be a vector, got shape: "
            + shape_text(serialized.shape)
        )
    return _Batch(serialized, check_names(serialized, names), context, lists)


@host_kernel("ParseSequenceExampleV2", large=True)
def parse_sequence_example_v2(c: OpKernelConstruction) -> Compute:
    """The contexts and the feature lists of a batch, or of one message."""
    context_features, list_features = _context(c), _feature_lists(c)

    def compute(serialized: Any, names: Any, *rest: Any) -> tuple[Any, ...]:
        groups = [keys.reshape(-1).tolist() for keys in rest[:6]]
        may_miss, defaults = rest[6].reshape(-1).tolist(), rest[7:]
        context = _Wanted(groups[0], groups[1], groups[2], context_features)
        lists = _Wanted(groups[3], groups[4], groups[5], list_features)
        batch = _batch(serialized.reshape(-1), names.reshape(-1), context, lists)
        found = batch.context(defaults), batch.lists(may_miss)
        if serialized.ndim:
            return (*found[0], *found[1])
        return _single_outputs(*found, context_features, list_features)

    return compute


def _single_outputs(
    context: tuple[Any, ...], lists: tuple[Any, ...], *features: Features
) -> tuple[Any, ...]:
    """The outputs of a batch of one, without the batch."""
    from tensorloom.kernels.host.parsing.parsing_ops import unbatched

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
