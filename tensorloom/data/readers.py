"""Datasets of the records of files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.data import specs
from tensorloom.data.dataset import Dataset, DatasetV1Adapter
from tensorloom.data.transformations import int64
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor

_DEFAULT_BUFFER = 256 * 1024
_STRING = specs.TensorSpec([], dtypes.string)


def reader_argument(name: str, value: Any, default: Any, dtype: Any) -> Tensor:
    """An argument of a reader as a tensor; `default` stands for None."""
    value = default if value is None else value
    return convert_to_tensor(value, dtype=dtype, name=name)


def _file_dataset(
    filenames: Any, make: Callable[[Any], Tensor], num_parallel_reads: Any
) -> tuple[Tensor, list[Dataset]]:
    """The variant tensor of a dataset of files, read one after the other or mixed."""
    names = _names_dataset(filenames)
    inputs = [names] if isinstance(filenames, Dataset) else []

    def records(name: Any) -> Dataset:
        return DatasetV1Adapter(make(name), _STRING)

    if num_parallel_reads is None:
        return names.flat_map(records)._variant_tensor, inputs
    from tensorloom.data.experimental_nesting import interleaved_in_parallel

    made = interleaved_in_parallel(
        names,
        records,
        cycle_length=num_parallel_reads,
        block_length=1,
        sloppy=False,
        buffer_output_elements=None,
        prefetch_input_elements=None,
    )
    return made._variant_tensor, inputs


def _names_dataset(filenames: Any) -> Dataset:
    """File names as a dataset of strings.

    Raises:
      TypeError: they are no strings.
    """
    if isinstance(filenames, Dataset):
        if filenames.output_types != dtypes.string:
            raise TypeError(
                "`filenames` must be a `tf.data.Dataset` of `tf.string` elements."
            )
        if not filenames.output_shapes.is_compatible_with(TensorShape([])):
            raise TypeError(
                "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` "
                "elements."
            )
        return filenames
    from tensorloom.ops.array import array_ops

    tensor = convert_to_tensor(filenames, dtype=dtypes.string)
    flat = array_ops.reshape(tensor, [-1], name="flat_filenames")
    return Dataset.from_tensor_slices(flat)


@export("data.TFRecordDataset")
class TFRecordDatasetV1(DatasetV1Adapter):
    """The records of TFRecord files.

    Args:
      filenames: a string tensor of rank 0 or 1, or a dataset of strings.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: bytes to read at once.
      num_parallel_reads: how many files to read at a time, their records mixed.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        def make(name: Any) -> Tensor:
            return apply_op(  # type: ignore[no-any-return]
                "TFRecordDataset",
                filenames=name,
                compression_type=reader_argument(
                    "compression_type", compression_type, "", dtypes.string
                ),
                buffer_size=reader_argument(
                    "buffer_size", buffer_size, _DEFAULT_BUFFER, dtypes.int64
                ),
            )

        variant, inputs = _file_dataset(filenames, make, num_parallel_reads)
        super().__init__(variant, _STRING, inputs)


@export("data.TextLineDataset")
class TextLineDatasetV1(DatasetV1Adapter):
    """The lines of text files, without their ends.

    Args: as of `TFRecordDataset`.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        def make(name: Any) -> Tensor:
            return apply_op(  # type: ignore[no-any-return]
                "TextLineDataset",
                filenames=name,
                compression_type=reader_argument(
                    "compression_type", compression_type, "", dtypes.string
                ),
                buffer_size=reader_argument(
                    "buffer_size", buffer_size, _DEFAULT_BUFFER, dtypes.int64
                ),
            )

        variant, inputs = _file_dataset(filenames, make, num_parallel_reads)
        super().__init__(variant, _STRING, inputs)


@export("data.FixedLengthRecordDataset")
class FixedLengthRecordDatasetV1(DatasetV1Adapter):
    """The records of files of records of one length.

    Args beyond those of `TFRecordDataset`:
      record_bytes, header_bytes, footer_bytes: lengths.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        def make(name: Any) -> Tensor:
            return apply_op(  # type: ignore[no-any-return]
                "FixedLengthRecordDatasetV2",
                filenames=name,
                header_bytes=reader_argument(
                    "header_bytes", header_bytes, 0, dtypes.int64
                ),
                record_bytes=int64(record_bytes, "record_bytes"),
                footer_bytes=reader_argument(
                    "footer_bytes", footer_bytes, 0, dtypes.int64
                ),
                buffer_size=reader_argument(
                    "buffer_size", buffer_size, _DEFAULT_BUFFER, dtypes.int64
                ),
                compression_type=reader_argument(
                    "compression_type", compression_type, "", dtypes.string
                ),
            )

        variant, inputs = _file_dataset(filenames, make, num_parallel_reads)
        super().__init__(variant, _STRING, inputs)
