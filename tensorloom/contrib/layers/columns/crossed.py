"""Columns of combinations of other columns' values."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

from tensorloom.contrib.layers.columns.names import declared_column
from tensorloom.contrib.layers.columns.real_valued import _BucketizedColumn
from tensorloom.contrib.layers.columns.sparse import _Categories, _SparseColumn
from tensorloom.contrib.layers.embeddings.crosses import sparse_feature_cross


class _CrossedColumn(
    _Categories,
    namedtuple(
        "_CrossedColumn",
        [
            "columns",
            "hash_bucket_size",
            "hash_key",
            "combiner",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
        ],
    ),
):
    """Hashes of all combinations of other columns' values."""

    @property
    def name(self) -> str:
        """Of all columns."""
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:
        """How many ids there are."""
        return int(self.hash_bucket_size)

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses all columns from."""
        return {k: v for column in self.columns for k, v in column.config.items()}

    def _leaves(self) -> Iterator[Any]:
        for column in self.columns:
            if isinstance(column, _CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def _to_dnn_input_layer(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            "CrossedColumn is not supported in DNN. Please use embedding_column. "
            f"column: {self}"
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _transform_feature(self, inputs: Any) -> Any:
        parts = []
        for column in self._leaves():
            if isinstance(column, _SparseColumn):
                # The values themselves: ids would collide before they are crossed.
                parts.append(inputs.get(column.name))
            else:
                parts.append(column.to_sparse_tensor(inputs.get(column)))
        return sparse_feature_cross(
            parts,
            hashed_output=True,
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
            name="cross",
        )


@declared_column("crossed_column")
def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """A column of hashes of all combinations of other columns' values.

    Args:
      columns: two or more of categories, ranges or crosses.
      hash_bucket_size: the hashes are below it.
      combiner: "sum", "mean" or "sqrtn", of several values of an example.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name in it of what
        the weights of a linear model begin with.
      hash_key: of the hash, as of `sparse_feature_cross`.

    Raises:
      TypeError: a column is of another kind.
      ValueError: fewer columns, a size below 2, or half a place in a checkpoint.
    """
    for column in columns:
        if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or "
                f"_BucketizedColumn instances. (column {column} is a "
                f"{type(column).__name__})"
            )
    if len(columns) < 2:
        raise ValueError(
            f"columns must contain at least 2 elements. columns: {columns}"
        )
    if hash_bucket_size < 2:
        raise ValueError(
            f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
        )
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none "
            "of them."
        )
    ordered = tuple(sorted(columns, key=lambda column: str(column.name)))
    return _CrossedColumn(
        ordered,
        hash_bucket_size,
        hash_key,
        combiner,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
    )
