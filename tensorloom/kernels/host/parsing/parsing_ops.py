"""Host kernels of parsing: Example messages, a batch of them or one."""

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
from tensorloom.kernels.host.parsing.single_example import SingleExample, Unusual
from tensorloom.kernels.host.strings.arrays import to_strings

if TYPE_CHECKING:
    from tensorloom.framework import errors
    from tensorloom.framework.types.dtypes import DType


class Features:
    """The dtypes and shapes of an op's outputs: sparse, dense and ragged ones."""

    def __init__(
        self,
        sparse_types: Sequence[DType],
        dense_types: Sequence[DType],
        shapes: Any,
        ragged_types: Sequence[DType] = (),
        split_types: Sequence[DType] = (),
    ) -> None:
        self.sparse_types, self.dense_types = list(sparse_types), list(dense_types)
        self.shapes = [shape.dims_tuple for shape in shapes]
        self.ragged_types, self.split_types = list(ragged_types), list(split_types)

    def parse(
        self,
        texts: Any,
        where: columns.Where,
        keys: tuple[list[bytes], list[bytes], list[bytes]],
        defaults: Sequence[Any],
    ) -> tuple[Any, ...]:
        """Indices, values, shapes; dense values; ragged values, ragged splits.

        Args:
          keys: of the sparse, the dense and the ragged features.

        Raises:
          InvalidArgumentError: a text is no Example, or has not the features.
        """
        sparse_keys, dense_keys, ragged_keys = keys
        every_key = [*sparse_keys, *dense_keys, *ragged_keys]
        found = columns.Examples(
            texts, every_key, where, lambda row: _refusal(texts[row])
        )

        def listed(key: bytes, dtype: DType) -> columns.Column:
            return found.column(key, dtype, columns.SPARSE_MISMATCH)

        sparse = [
            columns.sparse_output(listed(key, dtype))
            for key, dtype in zip(sparse_keys, self.sparse_types, strict=True)
        ]
        dense = [
            self._dense(i, key, found, defaults[i], where)
            for i, key in enumerate(dense_keys)
        ]
        ragged = [
            listed(key, dtype)
            for key, dtype in zip(ragged_keys, self.ragged_types, strict=True)
        ]
        return (
            *transposed(sparse),
            *dense,
            *(column.values for column in ragged),
            *(
                columns.row_splits(column.counts, dtype)
                for column, dtype in zip(ragged, self.split_types, strict=True)
            ),
        )

    def _dense(
        self,
        i: int,
        key: bytes,
        found: columns.Examples,
        default: Any,
        where: columns.Where,
    ) -> Any:
        shape, dtype = self.shapes[i], self.dense_types[i]
        default, name = np.asarray(default), key.decode(errors="replace")
        column = found.column(key, dtype, columns.DENSE_MISMATCH)
        if shape and shape[0] is None:
            return columns.padded_output(column, name, default, shape[1:], dtype, where)
        _check_default(default, shape, name)
        return columns.dense_output(column, name, default, shape, dtype, where)


def _check_default(default: Any, shape: tuple[int, ...], name: str) -> None:
    if default.size and default.shape != shape:
        raise invalid_argument(
            f"For key '{name}' dense_shape {shape_text(shape)} does not match "
            f"dense_defaults' shape {shape_text(default.shape)}"
        )


def transposed(parts: list[tuple[Any, ...]]) -> list[Any]:
    """The first parts of all, then the second, and so on."""
    return [part for group in zip(*parts, strict=True) for part in group]


def _refusal(text: bytes) -> errors.InvalidArgumentError:
    shown = text.decode(errors="replace")
    return invalid_argument(f"Could not parse example input, value: '{shown}'")


def check_names(serialized: Any, names: Any) -> list[str]:
    """The names of a batch as text, none if there are none.

    Raises:
      InvalidArgumentError: there are some, but not one for each message.
    """
    if names.size and names.shape != serialized.shape:
        raise invalid_argument(
            f"Expected len(names) == len(serialized), but got: {names.size} vs. "
            f"{serialized.size}"
        )
    return [name.decode(errors="replace") for name in names.reshape(-1).tolist()]


@host_kernel("ParseExample", large=True)
def parse_example(c: OpKernelConstruction) -> Compute:
    """The features of a batch."""
    sparse, dense = c["Nsparse"], c["Ndense"]
    features = Features(c["sparse_types"], c["Tdense"], c["dense_shapes"])

    def compute(serialized: Any, names: Any, *rest: Any) -> tuple[Any, ...]:
        if serialized.ndim != 1:
            raise invalid_argument(
                "Expected serialized to be a vector, got shape: "
                + shape_text(serialized.shape)
            )
        where = columns.Where(check_names(serialized, names))
        keys = [_key(value) for value in rest[: sparse + dense]]
        return features.parse(
            serialized,
            where,
            (keys[:sparse], keys[sparse:], []),
            rest[sparse + dense :],
        )

    return compute


def _key(value: Any) -> bytes:
    if value.ndim:
        raise invalid_argument(
            f"Expected a key to be a scalar, got shape: {shape_text(value.shape)}"
        )
    return value.item()  # type: ignore[no-any-return]


@host_kernel("ParseExampleV2", large=True)
def parse_example_v2(c: OpKernelConstruction) -> Compute:
    """The features of a batch, or of one message when `serialized` is a scalar."""
    features = Features(
        c["sparse_types"],
        c["Tdense"],
        c["dense_shapes"],
        c["ragged_value_types"],
        c["ragged_split_types"],
    )

    def compute(
        serialized: Any,
        names: Any,
        sparse_keys: Any,
        dense_keys: Any,
        ragged_keys: Any,
        *defaults: Any,
    ) -> tuple[Any, ...]:
        if serialized.ndim > 1:
            raise invalid_argument(
                "Expected serialized to be a scalar or vector, got shape: "
                + shape_text(serialized.shape)
            )
        where = columns.Where(check_names(serialized, names))
        keys = tuple(x.ravel().tolist() for x in (sparse_keys, dense_keys, ragged_keys))
        _check_counts(keys, features)
        texts = serialized.reshape(-1)
        found = features.parse(texts, where, keys, defaults)
        return found if serialized.ndim else unbatched(found, features)

    return compute


def _check_counts(keys: tuple[list[bytes], ...], features: Features) -> None:
    kinds = (features.sparse_types, features.dense_types, features.ragged_types)
    for what, given, wanted in zip(
        ("sparse", "dense", "ragged"), keys, kinds, strict=True
    ):
        if len(given) != len(wanted):
            raise invalid_argument(
                f"Expected len({what}_keys) == {len(wanted)}, got {len(given)}"
            )


@host_kernel("ParseSingleExample", large=True)
def parse_single_example(c: OpKernelConstruction) -> Compute:
    """The features of one message."""
    features = Features(c["sparse_types"], c["Tdense"], c["dense_shapes"])
    keys = list(c["sparse_keys"]), list(c["dense_keys"]), list[bytes]()
    single = SingleExample(
        list(zip(keys[0], features.sparse_types, strict=True)),
        list(zip(keys[1], features.dense_types, features.shapes, strict=True)),
    )

    def compute(serialized: Any, *defaults: Any) -> tuple[Any, ...]:
        if serialized.ndim:
            raise invalid_argument(
                "Expected serialized to be a scalar, got shape: "
                + shape_text(serialized.shape)
            )
        text = serialized.item()
        try:
            return single.read(text, defaults)
        except Unusual:
            found = features.parse([text], columns.OnlyOne(), keys, defaults)
            return unbatched(found, features)

    return compute


def unbatched(found: Sequence[Any], features: Features) -> tuple[Any, ...]:
    """The outputs of a batch of one, without the batch."""
    sparse, dense = len(features.sparse_types), len(features.dense_types)
    ragged_at = 3 * sparse + dense
    ragged = len(features.ragged_types)
    return (
        *(indices[:, 1:] for indices in found[:sparse]),
        *found[sparse : 2 * sparse],
        *(shape[1:] for shape in found[2 * sparse : 3 * sparse]),
        *(scalar(value[0]) for value in found[3 * sparse : ragged_at]),
        *found[ragged_at : ragged_at + ragged],
        *(splits[:0] for splits in found[ragged_at + ragged :]),
    )


def scalar(value: Any) -> Any:
    """An element of a host array as a host value."""
    return to_strings([value], ()) if isinstance(value, bytes) else value
