"""Values made of several tensors: the base of IndexedSlices and SparseTensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class CompositeTensor:
    """A value whose parts are tensors.

    Structures (`tf.nest` with `expand_composites`), control flow and `Session.run`
    take it apart with `composite_parts` and put another of the same kind together with
    `with_composite_parts`. A class of a program has `_type_spec` in place of both, as
    in TensorFlow.
    """

    _is_composite = True  # what `tf.is_tensor` looks for

    def composite_parts(self) -> Any:
        """The parts, in a fixed order; absent optional parts are left out."""
        spec: Any = getattr(self, "_type_spec")  # noqa: B009 - of the program's class
        return spec._to_components(self)

    def with_composite_parts(self, parts: Sequence[Any]) -> CompositeTensor:
        """Another value of the same kind, from as many parts as `composite_parts`."""
        spec: Any = getattr(self, "_type_spec")  # noqa: B009 - of the program's class
        made: CompositeTensor = spec._from_components(parts)
        return made
