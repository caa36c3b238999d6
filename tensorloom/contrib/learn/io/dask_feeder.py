"""Feeds random parts of dask data frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.contrib.learn.io.batch_shapes import checked_dtype, in_out_shape


class DaskDataFeeder:
    """Feeds random samples of about the size of a batch.

    Args:
      x: features: a dask data frame.
      y: labels: a dask data frame of one column of classes.
      n_classes: how many classes there are.
      batch_size: examples in a batch; all of them when None.
      shuffle: not used: samples are random.
      random_state: the seed of the samples.
      epochs: not used.

    Raises:
      ValueError: a dict is given.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: int,
        batch_size: int | None,
        shuffle: bool = True,
        random_state: int | None = None,
        epochs: int | None = None,
    ) -> None:
        if isinstance(x, dict) or isinstance(y, dict):
            raise ValueError(
                "DaskDataFeeder does not support dictionaries at the moment."
            )
        from dask import dataframe

        self._x, self._y = x, y
        self._x_columns = list(x.columns)
        self._y_columns = [f"label_{column}" for column in y.columns]
        self._y = y.rename(columns=dict(zip(y.columns, self._y_columns, strict=True)))
        self.df = dataframe.concat([self._x, self._y], axis=1)
        self.n_classes = n_classes
        count = len(x)
        self._shuffle = shuffle
        self.epochs = epochs
        self.input_shape, self.output_shape, self._batch_size = in_out_shape(
            (count, len(x.columns)), (count, len(y.columns)), n_classes, batch_size
        )
        self.sample_fraction = self._batch_size / count
        self._input_dtype = checked_dtype(x.dtypes.iloc[0])
        self._output_dtype = checked_dtype(y.dtypes.iloc[0])
        self.random_state = 66 if random_state is None else random_state

    def get_feed_params(self) -> dict[str, int]:
        """The batch size."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(
        self, input_placeholder: Any, output_placeholder: Any
    ) -> Callable[[], dict[str, Any]]:
        """A function that gives the feeds of one sample; labels as one-hot rows."""

        def feed_dict_fn() -> dict[str, Any]:
            sample, _ = self.df.random_split(
                [self.sample_fraction, 1 - self.sample_fraction],
                random_state=self.random_state,
            )
            inputs = sample[self._x_columns].compute().to_numpy(self._input_dtype)
            classes = sample[self._y_columns].compute().to_numpy().flatten()
            most = int(self._y.max().compute().to_numpy()[0])
            one_hot = np.zeros((classes.size, most + 1), dtype=self._output_dtype)
            one_hot[np.arange(classes.size), classes.astype(np.int64)] = 1
            return {input_placeholder.name: inputs, output_placeholder.name: one_hot}

        return feed_dict_fn
