"""What the entries of a bundle say of their tensors, of many read at once.

An entry is a `BundleEntryProto`. It begins with a dtype, which is a tag and a number,
and a shape: a tag, how many bytes it has, and dims. A dim is a tag, how many bytes it
has, a tag, and a number. Where numbers have a byte, but those of dims, entries can be
compared and taken apart as columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.storage.tables import byte_rows

if TYPE_CHECKING:
    from tensorloom.storage.tables.table_block import Block

_HEAD_BITS, _HEAD = 0x80FF80FF, 0x00120008  # of a dtype and of a shape's length
_HEAD_SIZE = 4
_DIM_BITS, _DIM = 0x00FF00FF, 0x00080012
_MOST = 5  # bytes of a dim's number: 35 bits
_PAST = 3 + _MOST  # how far the last dim can go past its entry's last byte
# By how many bytes a dim has: those of its number; and what is fixed in it, the tags
# and the bits that say that another byte of the number follows. What is too long or
# too short matches nothing.
_NUMBER = np.array([0, 0] + [(1 << 8 * n) - 1 for n in range(1, _MOST + 1)])
_NUMBER = np.concatenate([_NUMBER, np.zeros(256 - len(_NUMBER), np.int64)])
_FIXED_BITS = _DIM_BITS | (_NUMBER & 0x8080808080) << 24
_FIXED = np.where(_NUMBER, _DIM | (_NUMBER >> 8 & 0x8080808080) << 24, -1)


def dtype_numbers(block: Block, first: int) -> list[int] | None:
    """The dtypes from an entry on, as numbers. None if an entry is not simple."""
    heads = _heads(block, first)
    if heads is None:
        return None
    numbers: list[int] = (heads >> 8 & 0xFF).tolist()
    return numbers


def shape_lists(block: Block, first: int) -> list[list[int]] | None:
    """The shapes from an entry on. None if an entry is not simple."""
    heads = _heads(block, first)
    if heads is None:
        return None
    at = block.places[first:] + _HEAD_SIZE
    end = at + (heads >> 24 & 0xFF)
    if (end > block.places[first:] + block.sizes[first:]).any():
        return None
    dims, ranks = [], np.zeros(len(at), np.int64)
    while (more := at < end).any():
        words = byte_rows.words(block.data, at, block.end + _PAST)
        length = words >> 8 & 0xFF
        simple = words & _FIXED_BITS.take(length) == _FIXED.take(length)
        dims.append(_without_flags(words >> 24 & _NUMBER.take(length)))
        ranks += more
        length += 2
        if not more.all():
            simple |= ~more
            length *= more
        if not simple.all():
            return None
        at += length
    return _rows(dims, ranks) if (at == end).all() else None


def _heads(block: Block, first: int) -> Any:
    """The first eight bytes of the entries. None if one is not simple."""
    heads = byte_rows.words(block.data, block.places[first:], block.end)
    return None if (heads & _HEAD_BITS != _HEAD).any() else heads


def _without_flags(number: Any) -> Any:
    """Numbers whose bytes have seven bits each, and one that says if more follow."""
    if number.max() < 0x80:
        return number
    return sum(number >> at & 0x7F << 7 * at for at in range(_MOST))


def _rows(columns: list[Any], lengths: Any) -> list[list[int]]:
    """The rows of a table, each of its own length."""
    table = np.array(columns, np.int64).reshape(len(columns), len(lengths)).T
    if (lengths == len(columns)).all():
        rows: list[list[int]] = table.tolist()
        return rows
    found = np.empty(len(lengths), object)
    for length in set(lengths.tolist()):
        chosen = lengths == length
        some = table[chosen, :length].tolist()
        found[chosen] = np.fromiter(some, object, len(some))
    result: list[list[int]] = found.tolist()
    return result
