"""The names of `tf.contrib.data`, which are public elsewhere too."""

from __future__ import annotations

from tensorloom.data.dataset import AUTOTUNE
from tensorloom.data.experimental import RandomDatasetV1 as RandomDataset
from tensorloom.data.experimental import (
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    ignore_errors,
    map_and_batch,
    prefetch_to_device,
    shuffle_and_repeat,
    unbatch,
    unique,
)
from tensorloom.data.experimental_nesting import (
    Reducer,
    bucket_by_sequence_length,
    choose_from_datasets,
    group_by_reducer,
    group_by_window,
    parallel_interleave,
    sample_from_datasets,
    scan,
)
from tensorloom.data.experimental_nesting import counter as Counter
from tensorloom.data.experimental_readers import CsvDatasetV1 as CsvDataset
from tensorloom.data.experimental_readers import SqlDatasetV1 as SqlDataset
from tensorloom.data.experimental_readers import (
    make_batched_features_dataset,
    make_csv_dataset,
    parse_example_dataset,
)
from tensorloom.data.iterators import make_saveable_from_iterator
from tensorloom.data.optional import Optional, get_next_as_optional
from tensorloom.data.reduction import TFRecordWriter, get_single_element
from tensorloom.data.resampling import rejection_resample
from tensorloom.framework.export import export_value
from tensorloom.train.hooks.input_pipeline import CheckpointInputPipelineHook

export_value(AUTOTUNE, "contrib.data.AUTOTUNE")
export_value(CheckpointInputPipelineHook, "contrib.data.CheckpointInputPipelineHook")
export_value(Counter, "contrib.data.Counter")
export_value(CsvDataset, "contrib.data.CsvDataset")
export_value(Optional, "contrib.data.Optional")
export_value(RandomDataset, "contrib.data.RandomDataset")
export_value(Reducer, "contrib.data.Reducer")
export_value(SqlDataset, "contrib.data.SqlDataset")
export_value(TFRecordWriter, "contrib.data.TFRecordWriter")
export_value(bucket_by_sequence_length, "contrib.data.bucket_by_sequence_length")
export_value(choose_from_datasets, "contrib.data.choose_from_datasets")
export_value(copy_to_device, "contrib.data.copy_to_device")
export_value(dense_to_sparse_batch, "contrib.data.dense_to_sparse_batch")
export_value(enumerate_dataset, "contrib.data.enumerate_dataset")
export_value(get_next_as_optional, "contrib.data.get_next_as_optional")
export_value(get_single_element, "contrib.data.get_single_element")
export_value(group_by_reducer, "contrib.data.group_by_reducer")
export_value(group_by_window, "contrib.data.group_by_window")
export_value(ignore_errors, "contrib.data.ignore_errors")
export_value(
    make_batched_features_dataset, "contrib.data.make_batched_features_dataset"
)
export_value(make_csv_dataset, "contrib.data.make_csv_dataset")
export_value(make_saveable_from_iterator, "contrib.data.make_saveable_from_iterator")
export_value(map_and_batch, "contrib.data.map_and_batch")
export_value(parallel_interleave, "contrib.data.parallel_interleave")
export_value(parse_example_dataset, "contrib.data.parse_example_dataset")
export_value(prefetch_to_device, "contrib.data.prefetch_to_device")
export_value(rejection_resample, "contrib.data.rejection_resample")
export_value(sample_from_datasets, "contrib.data.sample_from_datasets")
export_value(scan, "contrib.data.scan")
export_value(shuffle_and_repeat, "contrib.data.shuffle_and_repeat")
export_value(unbatch, "contrib.data.unbatch")
export_value(unique, "contrib.data.unique")
