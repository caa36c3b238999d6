"""Values made of several tensors: the base of IndexedSlices and SparseTensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class CompositeTensor(ABC):
    """A value whose parts are tensors.

    Structures (`tf.nest` with `expand_composites`), control flow and `Session.run`
    take it apart with `components` and put another of the same kind together with
    `with_components`.
    """

    _is_composite = True  # what `tf.is_tensor` looks for

    @abstractmethod
    def components(self) -> tuple[Any, ...]:
        """The parts, in a fixed order; absent optional parts are left out."""

    @abstractmethod
    def with_components(self, parts: Sequence[Any]) -> CompositeTensor:
        """Another value of the same kind, from as many parts as `components` gives."""
