"""Matrices of a checkpoint for other vocabularies, row by row or column by column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import initializers as init_ops


def load_and_remap_matrix(
    ckpt_path: Any,
    old_tensor_name: Any,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Callable[..., Any],
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Any:
    """A matrix of a checkpoint whose rows or columns belong to words.

    Args:
      ckpt_path, old_tensor_name: the checkpoint, and the name of the matrix in it.
      new_row_vocab_offset: the line of the new vocabulary of rows to begin with.
      num_rows_to_load: how many rows.
      new_col_vocab_size: how many columns.
      initializer: makes the values of words that are new; gets a shape.
      old_row_vocab_size: how many lines of the old vocabulary count; -1 for all.
      old_row_vocab_file, new_row_vocab_file: a word a line; None where rows keep their
        places.
      old_col_vocab_file, new_col_vocab_file: the same of columns.
      num_row_oov_buckets, num_col_oov_buckets: how many initialized rows or columns to
        put behind.
      max_rows_in_memory: not used.

    Returns:
      [num_rows_to_load + num_row_oov_buckets,
      new_col_vocab_size + num_col_oov_buckets], float32.

    Raises:
      ValueError: a number of buckets is negative; a vocabulary has no partner, or there
        is none.
    """
    _check_buckets("row", num_row_oov_buckets)
    _check_buckets("col", num_col_oov_buckets)
    _check_files(
        {"row": old_row_vocab_file, "col": old_col_vocab_file},
        {"row": new_row_vocab_file, "col": new_col_vocab_file},
    )
    rows_present: Any = num_rows_to_load
    if new_row_vocab_file:
        row_remapping, rows_present = _remapping(
            new_row_vocab_file,
            old_row_vocab_file,
            new_row_vocab_offset,
            num_rows_to_load,
            old_row_vocab_size,
        )
    else:
        end = new_row_vocab_offset + num_rows_to_load
        row_remapping = math_ops.range(new_row_vocab_offset, end, dtype=dtypes.int64)
    col_remapping: Any = []
    cols_present: Any = new_col_vocab_size
    if new_col_vocab_file:
        col_remapping, cols_present = _remapping(
            new_col_vocab_file, old_col_vocab_file, 0, new_col_vocab_size, -1
        )
    missing = num_rows_to_load * new_col_vocab_size - rows_present * cols_present
    result = apply_op(
        "LoadAndRemapMatrix",
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        row_remapping=row_remapping,
        col_remapping=col_remapping,
        initializing_values=initializer([missing, 1]),
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    rows = num_rows_to_load + num_row_oov_buckets
    result = _extended(
        result, 0, initializer, [num_row_oov_buckets, new_col_vocab_size]
    )
    return _extended(result, 1, initializer, [rows, num_col_oov_buckets])


def _extended(
    matrix: Any, axis: int, initializer: Callable[..., Any], shape: list[int]
) -> Any:
    """The matrix with initialized values of a shape behind it, if there are any."""
    if shape[axis] == 0:
        return matrix
    return array_ops.concat([matrix, convert_to_tensor(initializer(shape))], axis)


def _check_buckets(what: str, count: int) -> None:
    if count < 0:
        raise ValueError(f"num_{what}_oov_buckets must be >= 0, but received {count}")


def _check_files(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuses vocabularies of rows or columns without a partner, and none at all."""
    for what in ("row", "col"):
        if bool(old[what]) != bool(new[what]):
            raise ValueError(
                f"old_{what}_vocab_file and new_{what}_vocab_file must both be "
                f"specified or left unspecified. old_{what}_vocab_file='{old[what]}', "
                f"new_{what}_vocab_file='{new[what]}'"
            )
    if not any(new.values()):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is "
            "necessary, consider using `tf.contrib.framework.init_from_checkpoint` "
            "instead."
        )


def _remapping(new: Any, old: Any, offset: int, count: int, old_size: int) -> Any:
    return apply_op(
        "GenerateVocabRemapping",
        new_vocab_file=new,
        old_vocab_file=old,
        new_vocab_offset=offset,
        num_new_vocab=count,
        old_vocab_size=old_size,
    )


@export("contrib.framework.load_and_remap_matrix_initializer")
def load_and_remap_matrix_initializer(
    ckpt_path: Any,
    old_tensor_name: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """An initializer of a variable, or of its slices by rows: a remapped matrix.

    Arguments are those of `load_and_remap_matrix`; the initializer of new words is one
    of zeros when None.

    Raises:
      TypeError: `initializer` is not callable.
    """
    new_values = init_ops.zeros_initializer() if initializer is None else initializer
    if not callable(new_values):
        raise TypeError(
            f"initializer must be callable, instead of being {new_values} of type "
            f"{type(new_values)}."
        )

    def initialize(
        shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None
    ) -> Any:
        """The tensor; `shape` has the buckets too."""
        _check_shape(shape, dtype, new_col_vocab_size, num_col_oov_buckets)
        offset = partition_info.single_offset(shape) if partition_info else 0
        _check_rows(offset, shape[0], new_row_vocab_size, num_row_oov_buckets)
        buckets = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:
            if shape[0] != buckets:
                raise ValueError(
                    "Partitioned variable offset is greater than new vocab size and "
                    "not operating on OOV-only partition."
                )
            return new_values(shape)
        return load_and_remap_matrix(
            ckpt_path=ckpt_path,
            old_tensor_name=old_tensor_name,
            new_row_vocab_offset=offset,
            num_rows_to_load=shape[0] - buckets,
            new_col_vocab_size=new_col_vocab_size,
            initializer=new_values,
            old_row_vocab_size=old_row_vocab_size,
            old_row_vocab_file=old_row_vocab_file,
            new_row_vocab_file=new_row_vocab_file,
            old_col_vocab_file=old_col_vocab_file,
            new_col_vocab_file=new_col_vocab_file,
            num_row_oov_buckets=buckets,
            num_col_oov_buckets=num_col_oov_buckets,
            max_rows_in_memory=max_rows_in_memory,
        )

    return initialize


@export("contrib.framework.load_embedding_initializer")
def load_embedding_initializer(
    ckpt_path: Any,
    embedding_tensor_name: Any,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: Any,
    new_vocab_file: Any,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """An initializer of an embedding: its rows are those of a checkpoint, by words.

    Args:
      ckpt_path, embedding_tensor_name: the checkpoint, and the matrix in it.
      new_vocab_size, embedding_dim: the shape, without buckets.
      old_vocab_file, new_vocab_file: the words, one a line.
      old_vocab_size: how many lines of the old words count; -1 for all.
      num_oov_buckets: how many rows to put behind.
      initializer: of new rows; truncated normal of stddev 1 / sqrt(embedding_dim) when
        None.
      max_rows_in_memory: not used.
    """
    if initializer is None:
        initializer = init_ops.truncated_normal_initializer(
            stddev=1.0 / math.sqrt(embedding_dim)
        )
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=embedding_tensor_name,
        new_row_vocab_size=new_vocab_size,
        new_col_vocab_size=embedding_dim,
        old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def _check_rows(offset: int, count: int, vocabulary: int, buckets: int) -> None:
    total = vocabulary + buckets
    if offset + count > total:
        raise ValueError(
            f"Trying to initialize {count} additional rows after {offset} rows have "
            "already been initialized, which would exceed expected total row count of "
            f"new_row_vocab_size ({vocabulary}) + num_row_oov_buckets ({buckets}) = "
            f"{total}."
        )


def _check_shape(shape: Any, dtype: Any, columns: int, buckets: int) -> None:
    if dtype != dtypes.float32:
        raise TypeError(
            f"Currently, only float32 is supported. Received dtype: {dtype}"
        )
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(
            f"Expected 1st dim of shape to be > 0, but received shape: {shape}"
        )
    if shape[1] != columns + buckets:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({columns}) + "
            f"num_col_oov_buckets ({buckets}) = {columns + buckets}, but received "
            f"shape: {shape}"
        )
