"""Values made of several tensors: the base of IndexedSlices and SparseTensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.framework.registry import late_modules

#: What makes the `TypeSpec` of a value, by the value's class.
VALUE_SPECS: Final[dict[type, Callable[[Any], Any]]] = {}


class CompositeTensor:
    """A value whose parts are tensors.

    Structures (`tf.nest` with `expand_composites`), control flow and `Session.run`
    take it apart with `composite_parts` and put another of the same kind together with
    `with_composite_parts`. A class of a program has `_type_spec` in place of both, as
    in TensorFlow.
    """

    _is_composite = True  # what `tf.is_tensor` looks for

    @property
    def _type_spec(self) -> Any:
        """Its `TypeSpec`. Raises AttributeError where its class has none."""
        late_modules.load_kind("spec")
        for kind in type(self).__mro__:
            if kind in VALUE_SPECS:
                return VALUE_SPECS[kind](self)
        raise AttributeError(f"{type(self).__name__} has no _type_spec")

    def composite_parts(self) -> Any:
        """The parts, in a fixed order; absent optional parts are left out."""
        return self._type_spec._to_components(self)

    def with_composite_parts(self, parts: Sequence[Any]) -> CompositeTensor:
        """Another value of the same kind, from as many parts as `composite_parts`."""
        made: CompositeTensor = self._type_spec._from_components(parts)
        return made
