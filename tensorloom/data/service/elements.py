"""Elements as bytes: what a worker sends of a piece.

Fields say how many tensors an element has, which elements are errors, and which tensors
are lists of tensors (as those of sparse values are); the bytes hold all tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import input_service
from tensorloom.transport.wire import packing, status

if TYPE_CHECKING:
    from tensorloom.data.service.calls import Fields

#: The name of the one compression.
SNAPPY: Final = "SNAPPY"
#: An element, or what making it has raised.
Item = tuple[Any, ...] | errors.OpError


def pack(items: Sequence[Item], compression: str = "") -> tuple[Fields, bytes]:
    """The fields and bytes of elements.

    Args:
      items: the elements.
      compression: "SNAPPY", or "" for none.

    Raises:
      errors.UnimplementedError: a tensor holds what does not travel.
    """
    layout: list[Any] = []
    values: list[Any] = []
    for item in items:
        if isinstance(item, errors.OpError):
            layout.append(status.to_wire(item))
            continue
        lists = {}
        for index, value in enumerate(item):
            if _is_list(value):
                lists[index] = list(value.shape)
                values += value.reshape(-1).tolist()
            else:
                values.append(value)
        layout.append([len(item), lists])
    buffers, _ = packing.pack(values)
    content = b"".join(buffers)
    if compression != SNAPPY:
        return {"elements": layout}, content
    content = input_service.snappy().compress(content)
    return {"elements": layout, "compression": SNAPPY}, content


def _is_list(value: Any) -> bool:
    """Whether a tensor holds tensors."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == object
        and value.size > 0
        and not isinstance(value.flat[0], bytes | str)
    )


def unpack(fields: Fields, content: bytes) -> list[Item]:
    """The elements of fields and bytes.

    Raises:
      errors.InvalidArgumentError: they are malformed.
    """
    if fields.get("compression") == SNAPPY:
        content = input_service.snappy().decompress(content)
    values = iter(packing.unpack(np.frombuffer(content, np.uint8)))
    try:
        return [_item(entry, values) for entry in fields["elements"]]
    except (KeyError, TypeError, ValueError, StopIteration, RuntimeError) as error:
        raise invalid_argument(
            f"Malformed elements of the input service: {error!r}"
        ) from None


def _item(entry: Any, values: Any) -> Item:
    first, second = entry
    if isinstance(second, str):
        return status.from_wire(int(first), second)
    found = []
    for index in range(first):
        shape = second.get(str(index))
        if shape is None:
            found.append(next(values))
            continue
        count = int(np.prod(shape, dtype=np.int64))
        array = np.empty(count, object)
        for place in range(count):
            array[place] = next(values)
        found.append(array.reshape(shape))
    return tuple(found)
