"""Values of constants that cannot be read, as graphs from elsewhere have them.

As in TensorFlow, a graph may hold a Const whose TensorProto has too few values, bytes
of another size, or another dtype than the node says: it is kept as it came, and a step
that needs it fails. Its static shape is what the message says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tensorloom.framework.errors import InvalidArgumentError, invalid_argument
from tensorloom.framework.types.tensor_proto import make_ndarray, sizes_of
from tensorloom.framework.types.tensor_shape import MAX_RANK


@dataclass(frozen=True, slots=True, eq=False)
class UnreadableTensor:
    """What the attr `value` of such a constant is."""

    definition: Any  #: the TensorProto as it came, which is written as it is
    message: str  #: what is wrong with it
    shape: tuple[int, ...]

    def check(self, name: str) -> None:
        """Raises InvalidArgumentError: the node of that name has no value."""
        raise InvalidArgumentError(
            None, None, f"{self.message}\n\t [[{{{{node {name}}}}}]] (op Const)"
        )

    def value(self) -> Any:
        """The array where the dtype alone is another than the node's.

        Raises:
            TypeError, ValueError: as `make_ndarray`.
        """
        return make_ndarray(self.definition)


def unreadable(proto: Any, message: str) -> UnreadableTensor:
    """What stands for a TensorProto.

    Raises:
        InvalidArgumentError: not even its shape can be told.
    """
    sizes = sizes_of(proto)
    if len(sizes) > MAX_RANK:
        raise invalid_argument(f"Shapes have at most {MAX_RANK} dimensions")
    definition = type(proto)()
    definition.CopyFrom(proto)
    return UnreadableTensor(definition, message, sizes)
