"""Host kernel of parsing: one SequenceExample message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.parsing import example_columns as columns
from tensorloom.kernels.host.parsing.parsing_ops import Features, scalar, transposed
from tensorloom.kernels.host.parsing.sequence_steps import is_of, pick, steps_of

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


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
        feature = pick(self.features, key)
        if feature is not None and not is_of(feature, dtype):
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
        found = steps_of(
            [pick(self.lists, key)],
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
        given, name = pick(self.lists, key), key.decode(errors="replace")
        if given is None and not may_miss:
            raise invalid_argument(
                f"Name: {self.name}, Feature list '{name}' is required but could not "
                "be found.  Did you mean to include it in "
                "feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        column = steps_of(
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
