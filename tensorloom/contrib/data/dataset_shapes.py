"""Datasets whose elements are checked, or of known batches; first ways of reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.contrib.framework.shape_checks import with_shape
from tensorloom.data import nest as data_nest
from tensorloom.data import specs
from tensorloom.data.dataset import Dataset
from tensorloom.data.dataset_classes import is_dataset, new_dataset
from tensorloom.data.dataset_functions import make_one_shot_iterator
from tensorloom.data.experimental_nesting import parallel_interleave
from tensorloom.data.experimental_readers import make_batched_features_dataset
from tensorloom.data.readers import TFRecordDatasetV1
from tensorloom.data.transformations import int64, make
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape

Transformation = Callable[[Dataset], Dataset]


@export("contrib.data.batch_and_drop_remainder")
def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches of one size; what is left at the end is dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


@export("contrib.data.padded_batch_and_drop_remainder")
def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """Padded batches of one size; what is left at the end is dropped."""
    return lambda dataset: dataset.padded_batch(
        batch_size,
        padded_shapes=padded_shapes,
        padding_values=padding_values,
        drop_remainder=True,
    )


@export("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Elements whose shapes are known: checked now, else when they come.

    Args:
      expected_shapes: shapes in the structure of an element; unknown ones and unknown
        dimensions fit all.

    Raises:
      ValueError: (when applied) a static shape differs. (When run:
        InvalidArgumentError.)
    """

    def check(*elements: Any) -> Any:
        tensors = data_nest.flatten(elements)
        shapes = data_nest.flatten(expected_shapes)
        checked = [
            _with_shape(one, shape) if shape else one
            for shape, one in zip(map(as_shape, shapes), tensors, strict=False)
        ]
        return data_nest.pack_sequence_as(elements, checked)

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        shapes = data_nest.flatten_up_to(spec, expected_shapes)
        merged = [
            specs.TensorSpec(one.shape.merge_with(as_shape(shape)), one.dtype)
            for one, shape in zip(data_nest.flatten(spec), shapes, strict=True)
        ]
        checked = dataset.map(lambda *x: _unwrapped(check(*x)))
        return new_dataset(
            checked._variant_tensor, data_nest.pack_sequence_as(spec, merged), [checked]
        )

    return apply


def _with_shape(tensor: Any, shape: Any) -> Any:
    """A tensor whose shape is checked where it is not known; -1 fits all."""
    if tensor.shape.is_fully_defined():
        return with_shape(shape, tensor)
    sizes = [-1 if size is None else size for size in shape.as_list()]
    return with_shape(convert_to_tensor(sizes, dtypes.int32), tensor)


def _unwrapped(elements: Any) -> Any:
    return elements[0] if len(elements) == 1 else elements


@export("contrib.data.reduce_dataset")
def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """The state after all elements, which a `Reducer` begins with and goes on from.

    Raises:
      TypeError: the first argument is no dataset.
    """
    if not is_dataset(dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)


@export("contrib.data.sloppy_interleave")
def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Transformation:
    """Elements of several datasets in turns; one that has none ready may be passed."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


@export("contrib.data.sliding_window_batch")
def sliding_window_batch(
    window_size: Any,
    stride: Any = None,
    window_shift: Any = None,
    window_stride: Any = 1,
) -> Transformation:
    """Batches of neighbouring elements, which overlap.

    Args:
      window_size: how many elements a batch has; a last smaller one is dropped.
      stride: the older name of `window_shift`.
      window_shift: how many elements one batch begins after the one before; 1 when
        None.
      window_stride: how far apart the elements of a batch are.

    Raises:
      ValueError: both `stride` and `window_shift` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = stride if window_shift is None else window_shift
    shift = 1 if shift is None else shift

    def apply(dataset: Dataset) -> Dataset:
        return make(
            "SlidingWindowDataset",
            data_nest.map_structure(
                lambda spec: spec.batch(None), dataset.element_spec
            ),
            [dataset],
            input_dataset=dataset._variant_tensor,
            window_size=int64(window_size, "window_size"),
            window_shift=int64(shift, "window_shift"),
            window_stride=int64(window_stride, "window_stride"),
        )

    return apply


@export("contrib.data.read_batch_features")
def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = TFRecordDatasetV1,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """Batches of parsed Examples, as tensors of a one-shot iterator.

    Args:
      file_pattern: files, or patterns of them.
      batch_size: Examples a batch.
      features: names with `FixedLenFeature` or `VarLenFeature`.
      reader: makes a dataset of serialized Examples of file names.
      reader_args: further arguments for it.
      randomize_input: shuffle.
      num_epochs: how often to read; None for ever.
      capacity: of the buffer to shuffle in.

    Returns:
      A dict of tensors and sparse tensors.
    """
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return make_one_shot_iterator(dataset).get_next()
