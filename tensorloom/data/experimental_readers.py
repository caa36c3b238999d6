"""`tf.data.experimental`: CSV files and files of Examples."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.data import csv_columns, nest, specs
from tensorloom.data.dataset import AUTOTUNE, Dataset, DatasetV1Adapter
from tensorloom.data.dataset_classes import flat_structure
from tensorloom.data.experimental import (
    Transformation,
    shuffle_and_repeat,
)
from tensorloom.data.experimental import (
    ignore_errors as ignoring_errors,
)
from tensorloom.data.experimental_nesting import parallel_interleave
from tensorloom.data.options import Options
from tensorloom.data.readers import TFRecordDatasetV1, reader_argument
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_n_to_tensor

_CSV_BUFFER = 4 * 1024 * 1024
_CSV_TYPES = (
    dtypes.float32,
    dtypes.float64,
    dtypes.int32,
    dtypes.int64,
    dtypes.string,
)


def _defaults(values: Sequence[Any]) -> list[Any]:
    """Defaults of columns: a dtype says that the column is required."""
    from tensorloom.ops.array.constant import constant

    def one(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value
        try:
            is_type = value in _CSV_TYPES
        except (TypeError, ValueError):
            is_type = False
        return constant([], dtype=value) if is_type else value

    return [one(value) for value in values]


@export("data.experimental.CsvDataset")
class CsvDatasetV1(DatasetV1Adapter):
    """The records of CSV files, a tuple of scalars each.

    Args:
      filenames: a string tensor of rank 0 or 1.
      record_defaults: for each column its default [1], or the dtype of a required one.
      header: True when the first line of each file is none of the records.
      na_value: text that stands for a missing value.
      select_cols: ascending numbers of the columns to parse; all by default.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ) -> None:
        string = dtypes.string
        names = reader_argument("filenames", filenames, None, string)
        compression = reader_argument("compression_type", compression_type, "", string)
        given = convert_n_to_tensor(_defaults(record_defaults), name="record_defaults")
        structure = tuple(specs.TensorSpec([], t.dtype) for t in given)
        variant = apply_op(
            "CSVDataset",
            filenames=names,
            compression_type=compression,
            record_defaults=given,
            buffer_size=reader_argument(
                "buffer_size", buffer_size, _CSV_BUFFER, dtypes.int64
            ),
            header=reader_argument("header", header, None, dtypes.bool),
            field_delim=reader_argument("field_delim", field_delim, None, string),
            use_quote_delim=reader_argument(
                "use_quote_delim", use_quote_delim, None, dtypes.bool
            ),
            na_value=reader_argument("na_value", na_value, None, string),
            select_cols=reader_argument("select_cols", select_cols, [], dtypes.int64),
            output_shapes=flat_structure(structure)["output_shapes"],
        )
        super().__init__(variant, structure)


@export("data.experimental.SqlDataset")
class SqlDatasetV1(DatasetV1Adapter):
    """The rows of the result of an SQL query.

    Args:
      driver_name: "sqlite".
      data_source_name: the file of the database.
      query: the SELECT.
      output_types: a dtype for each column, in a structure.
    """

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        structure = nest.map_structure(
            lambda dtype: specs.TensorSpec([], dtype), output_types
        )
        string = dtypes.string
        source = reader_argument("data_source_name", data_source_name, None, string)
        variant = apply_op(
            "SqlDataset",
            driver_name=reader_argument("driver_name", driver_name, None, string),
            data_source_name=source,
            query=reader_argument("query", query, None, string),
            **flat_structure(structure),
        )
        super().__init__(variant, structure)


def _shuffled_and_repeated(
    dataset: Dataset, num_epochs: Any, shuffle: bool, buffer_size: Any, seed: Any
) -> Dataset:
    if num_epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def _interleaved(
    dataset: Dataset, records: Callable[[Any], Dataset], threads: Any, sloppy: bool
) -> Dataset:
    """The records of files; the names of the files are the dataset's elements."""
    if threads == AUTOTUNE:
        made = dataset.interleave(records, num_parallel_calls=threads)
        options = Options()
        options.experimental_deterministic = not sloppy
        return made.with_options(options)
    return dataset.apply(
        parallel_interleave(records, cycle_length=threads, sloppy=sloppy)
    )


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: Any,
    parser_fn: Callable[..., Any] | None = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = None,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    num_parallel_parser_calls: Any = None,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the records of TFRecord files.

    Args:
      parser_fn: what becomes of a record before it is batched.
      num_epochs: passes over the files; endless by default.
      shuffle_buffer_size: 10000 records by default.
      num_parallel_reads: how many files are read in turn, 24 by default.
      num_parallel_parser_calls: as many as a batch has by default.
    """
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    reads = 24 if num_parallel_reads is None else num_parallel_reads
    buffer = 10000 if shuffle_buffer_size is None else shuffle_buffer_size
    dataset = _shuffled_and_repeated(
        TFRecordDatasetV1(names, num_parallel_reads=reads),
        num_epochs,
        shuffle,
        buffer,
        shuffle_seed,
    )
    if parser_fn is not None:
        calls = num_parallel_parser_calls
        dataset = dataset.map(parser_fn, batch_size if calls is None else calls)
    dataset = dataset.batch(
        batch_size, drop_remainder=drop_final_batch or num_epochs is None
    )
    if prefetch_buffer_size == 0:
        return dataset
    return dataset.prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    )


# --- Examples -------------------------------------------------------------------


@export("data.experimental.parse_example_dataset")
def parse_example_dataset(features: Any, num_parallel_calls: Any = 1) -> Transformation:
    """Parses batches of serialized Examples [n] into dicts of features.

    Raises:
      ValueError: `features` is empty.
      TypeError: the elements are not vectors of strings.
    """
    if not features:
        raise ValueError("Missing: features was %s." % features)  # noqa: UP031

    def apply(dataset: Dataset) -> Dataset:
        from tensorloom.ops.parsing.parsing_features import parse_example

        spec = dataset.element_spec
        if not (
            isinstance(spec, specs.TensorSpec)
            and spec.is_compatible_with(specs.TensorSpec([None], dtypes.string))
        ):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        return dataset.map(
            lambda serialized: parse_example(serialized, features), num_parallel_calls
        )

    return apply


@export("data.experimental.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = TFRecordDatasetV1,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the features of Examples in files.

    Args:
      features: as of `tf.io.parse_example`.
      label_key: a feature to be given apart, as in (features, label).
      num_epochs: passes over the files; endless by default.

    Raises:
      ValueError: `label_key` is no feature.
    """
    dataset = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    arguments = reader_args or []
    threads = 1 if reader_num_threads is None else reader_num_threads
    dataset = _interleaved(
        dataset, lambda name: reader(name, *arguments), threads, sloppy_ordering
    )
    if dataset.output_types == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, value: value)
    dataset = _shuffled_and_repeated(
        dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed
    )
    dataset = dataset.batch(
        batch_size, drop_remainder=drop_final_batch or num_epochs is None
    )
    parsers = 2 if parser_num_threads is None else parser_num_threads
    dataset = dataset.apply(parse_example_dataset(features, parsers))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key!r}) must be one of the "
                "`features` keys."
            )
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return dataset.prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    )


# --- CSV with names -------------------------------------------------------------


@export("data.experimental.make_csv_dataset")
def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the columns of CSV files, as dicts by their names.

    Names come from the header and types from the first rows, where they are not given.

    Raises:
      ValueError: no file, no header, or names and columns that do not fit.
    """
    names = _file_names(file_pattern)
    dataset = Dataset.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    probe = csv_columns.CsvProbe(names, field_delim, use_quote_delim, compression_type)
    column_names = csv_columns.known_names(column_names, probe, header)
    chosen = (
        None
        if select_columns is None
        else csv_columns.chosen_numbers(select_columns, column_names)
    )
    if column_defaults is None:
        column_defaults = probe.column_defaults(
            len(column_names), na_value, header, num_rows_for_inference, chosen
        )
    else:
        column_defaults = _defaults(column_defaults)
    if chosen is not None:
        column_names = csv_columns.chosen_names(
            column_names, chosen, len(column_defaults)
        )
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def records(name: Any) -> Dataset:
        made: Dataset = CsvDatasetV1(
            name,
            record_defaults=column_defaults,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=chosen,
            header=header,
            compression_type=compression_type,
        )
        return made.apply(ignoring_errors()) if ignore_errors else made

    def map_fn(*columns: Any) -> Any:
        return _named(column_names, label_name, columns)

    threads = 1 if num_parallel_reads is None else num_parallel_reads
    dataset = _interleaved(dataset, records, threads, sloppy)
    dataset = _shuffled_and_repeated(
        dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed
    )
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(map_fn)
    return dataset.prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    )


def _named(names: Sequence[str], label_name: str | None, columns: Sequence[Any]) -> Any:
    """The columns of a batch by name; the label apart, if there is one."""
    features = collections.OrderedDict(zip(names, columns, strict=True))
    if label_name is None:
        return features
    label = features.pop(label_name)
    return features, label


def _file_names(pattern: Any) -> list[str]:
    """The files that match patterns, sorted.

    Raises:
      ValueError: none, or no pattern.
    """
    from tensorloom.storage.files import filesystem

    patterns = pattern if isinstance(pattern, list) else [pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    names = sorted(itertools.chain(*(filesystem.glob(p) for p in patterns)))
    if not names:
        raise ValueError(f"No files match {pattern}.")
    return names
