"""Numbers for the categories in the columns of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tensorloom.contrib.learn.io.data_feeder import setup_processor_data_feeder
from tensorloom.contrib.learn.preprocessing.categorical_vocabulary import (
    CategoricalVocabulary,
)
from tensorloom.framework.export import export


def _is_missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


@export("contrib.learn.preprocessing.CategoricalProcessor")
class CategoricalProcessor:
    """Gives each category of each column a number; 0 stands for unknown and missing.

    Args:
      min_frequency: categories that occur so often, or less, are unknown.
      share: all columns have one vocabulary.
      vocabularies: a `CategoricalVocabulary` for each column; made by `fit` when None.
    """

    vocabularies_: list[CategoricalVocabulary] | None

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: list[CategoricalVocabulary] | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Whether categories that come from now on are unknown."""
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Any], unused_y: Any = None) -> CategoricalProcessor:
        """Learns the categories of the rows `x`, then freezes."""
        for row in setup_processor_data_feeder(x):
            vocabularies = self._of_columns(row)
            for vocabulary, value in zip(vocabularies, row, strict=False):
                if not _is_missing(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def _of_columns(self, row: Any) -> list[CategoricalVocabulary]:
        if self.vocabularies_ is None:
            if self.share:
                self.vocabularies_ = [CategoricalVocabulary()] * len(row)
            else:
                self.vocabularies_ = [CategoricalVocabulary() for _ in row]
        return self.vocabularies_

    def fit_transform(self, x: Iterable[Any], unused_y: Any = None) -> Iterator[Any]:
        """`fit`, then `transform`."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """The rows of `x` as int64 arrays of numbers."""
        self.freeze()
        for row in setup_processor_data_feeder(x):
            numbers = [
                0 if _is_missing(value) else vocabulary.get(value)
                for vocabulary, value in zip(self._of_columns(row), row, strict=False)
            ]
            yield np.array(numbers, dtype=np.int64)
