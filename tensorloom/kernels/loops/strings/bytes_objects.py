"""Python's bytes objects read and made without a call of the interpreter for each.

An array of strings holds the addresses of bytes objects. To ask each for its length
through the interpreter takes 60 ns and more, to cut it from a buffer 200 ns; here it is
a tenth of that. These are the only loops that follow addresses: all others go over
buffers and positions in them, whose bounds can be looked at.

What they rely on: CPython has the address of an object's type, its length, its hash and
its text one behind the other, at places that follow from the sizes that it tells. They
look at the type of each object, and hold the interpreter's lock, so that nobody changes
the array. They cannot be called as Python: until they are compiled, their caller does
without them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from tensorloom.kernels.loops import object_loop

# Where things are in a bytes object. Its text ends with a zero byte.
_SIZE: Final = object.__basicsize__
_TYPE: Final = _SIZE - 8
_TEXT: Final = bytes.__basicsize__ - 1

_new_bytes = types.ExternalFunction(
    "PyBytes_FromStringAndSize", types.intp(types.intp, types.intp)
)
_forget_error = types.ExternalFunction("PyErr_Clear", types.void())
_give_up = types.ExternalFunction("Py_DecRef", types.void(types.intp))


def _word_code(context: Any, address: Any) -> Any:
    """The word of eight bytes at an address."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return types.int64(types.intp), code


def _put_code(context: Any, address: Any, word: Any) -> Any:
    """Puts a word of eight bytes at an address."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        builder.store(args[1], place, align=1)
        return context.get_dummy_value()

    return types.none(types.intp, types.int64), code


# (address) -> word; (address, word) -> None.
_word_at: Any = intrinsic(_word_code)
_put_word: Any = intrinsic(_put_code)


@object_loop
def measure(objects: int, kind: int, starts: Any, lengths: Any) -> int:
    """The lengths of bytes objects, and where they begin one behind the other.

    Args:
      objects: the address of their addresses.
      kind: the address of the type.
      starts, lengths: get them, int64 [n].

    Returns:
      The sum of the lengths; -1 if an object is of another type, or none.
    """
    end = 0
    for i in range(len(lengths)):
        text = _word_at(objects + 8 * i)
        if text == 0 or _word_at(text + _TYPE) != kind:
            return -1
        starts[i], lengths[i] = end, _word_at(text + _SIZE)
        end += lengths[i]
    return end


@object_loop
def copy(objects: int, starts: Any, lengths: Any, blob: Any) -> None:
    """Copies texts one behind the other.

    Args:
      objects: the address of the addresses of bytes objects.
      starts, lengths: what `measure` says of them.
      blob: gets the texts, uint8; it has seven bytes and more behind the last one.
    """
    base = blob.ctypes.data
    for i in range(len(starts)):
        source, target = _word_at(objects + 8 * i) + _TEXT, base + starts[i]
        # Whole words: one with a byte of the object in it is in its memory, as both are
        # aligned; and what is copied too much, the next text or nobody stands on.
        for at in range(0, lengths[i], 8):
            _put_word(target + at, _word_at(source + at))


@object_loop
def make(blob: Any, starts: Any, lengths: Any, objects: int) -> bool:
    """Makes bytes objects.

    Args:
      blob: the bytes of all, uint8.
      starts: where each begins, int64 [n]; it is in the buffer as a whole.
      lengths: of each, int64 [n].
      objects: the address of addresses of objects, which are replaced by those made.

    Returns:
      Whether there was memory for all.
    """
    base = blob.ctypes.data
    for i in range(len(starts)):
        made = _new_bytes(base + starts[i], lengths[i])
        if made == 0:
            _forget_error()
            return False
        _give_up(_word_at(objects + 8 * i))
        _put_word(objects + 8 * i, made)
    return True


@object_loop
def are_same(objects: int, others: int, count: int) -> bool:
    """Whether two arrays hold the same objects in the same order.

    Args:
      objects, others: the addresses of their addresses.
    """
    for i in range(count):
        if _word_at(objects + 8 * i) != _word_at(others + 8 * i):
            return False
    return True


def compile_all() -> None:
    """Compiles the loops, or reads their machine code."""
    words = np.array([b"a"], object)
    address = words.__array_interface__["data"][0]
    starts, lengths = np.empty((2, 1), np.int64)
    blob = np.zeros(16, np.uint8)
    measure(address, id(bytes), starts, lengths)
    copy(address, starts, lengths, blob)
    make(blob, starts, lengths, address)
    are_same(address, address, 1)
