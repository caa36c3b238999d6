"""Initializers that read values of linear models from checkpoints, word by word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.base_resource_variable import is_resource_variable
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.train.checkpoints.matrix_remapping import (
    load_and_remap_matrix_initializer,
)


@export("contrib.framework.load_linear_multiclass_bias_initializer")
def load_linear_multiclass_bias_initializer(
    ckpt_path: Any,
    bias_tensor_name: Any,
    new_class_vocab_size: int,
    old_class_vocab_file: Any,
    new_class_vocab_file: Any,
    num_class_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """An initializer of the biases of classes, [classes + buckets, 1].

    Args:
      ckpt_path, bias_tensor_name: the checkpoint, and the biases in it.
      new_class_vocab_size: how many classes there are now.
      old_class_vocab_file, new_class_vocab_file: their names, one a line.
      num_class_oov_buckets: how many rows to put behind.
      initializer: of new classes; zeros when None.
      max_rows_in_memory: not used.

    Raises:
      TypeError: `initializer` is not callable.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


@export("contrib.framework.load_variable_slot_initializer")
def load_variable_slot_initializer(
    ckpt_path: Any,
    old_tensor_name: Any,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """An initializer of an optimizer's slot: that of a matrix which is remapped.

    Args:
      primary_partition_info: which slice the slot's variable is; optimizers tell the
        slot nothing of it. The others are those of
        `load_and_remap_matrix_initializer`.

    Raises:
      TypeError: `initializer` is not callable.
    """
    matrix = load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size,
        new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def initialize(
        shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None
    ) -> Any:
        """The tensor; what the variable was told takes the place of the slot's."""
        return matrix(shape, dtype, partition_info=primary_partition_info)

    return initialize


@export("contrib.framework.zero_initializer")
def zero_initializer(
    ref: Any, use_locking: bool = True, name: str = "zero_initializer"
) -> Any:
    """An op that gives a variable without a value zeros; it needs no second copy.

    Args:
      ref: the variable.
      use_locking: not used.
      name: of the op.

    Returns:
      The reference, or the handle. (When run with a value there: InvalidArgumentError.)
    """
    if is_resource_variable(ref):
        return apply_op(
            "ZeroVarInitializer",
            var=ref.handle,
            shape=ref.shape,
            dtype=ref.dtype.base_dtype,
            name=name,
        )
    return apply_op("ZeroInitializer", ref=ref, name=name)
