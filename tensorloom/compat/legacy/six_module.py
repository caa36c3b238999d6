"""`six`, for programs that rely on TensorFlow having brought it with itself."""

from __future__ import annotations

import functools
import io
import operator
import struct
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

from tensorloom.compat.legacy import six_moves as moves

PY2, PY3, PY34 = False, True, True
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
MAXSIZE = sys.maxsize
StringIO, BytesIO = io.StringIO, io.BytesIO
unichr = chr
int2byte = struct.Struct(">B").pack
byte2int = operator.itemgetter(0)
indexbytes = operator.getitem
iterbytes = iter
next = advance_iterator = next
wraps = functools.wraps
get_method_function = operator.attrgetter("__func__")
get_method_self = operator.attrgetter("__self__")
get_function_closure = operator.attrgetter("__closure__")
get_function_code = operator.attrgetter("__code__")
get_function_defaults = operator.attrgetter("__defaults__")
get_function_globals = operator.attrgetter("__globals__")
create_bound_method = types.MethodType
print_ = print
exec_ = exec


class Iterator(object):  # noqa: UP004 - as in six
    """Base class of iterators that are written with `__next__`."""

    def next(self) -> Any:
        """The next item."""
        return type(self).__next__(self)  # type: ignore[attr-defined]


def callable(obj: Any) -> bool:
    """Whether it can be called."""
    return hasattr(obj, "__call__")  # noqa: B004 - as in six


def u(s: str) -> str:
    """A text."""
    return s


def b(s: str) -> bytes:
    """A text as bytes."""
    return s.encode("latin-1")


def iterkeys(d: Any, **kw: Any) -> Any:
    """An iterator of the keys."""
    return iter(d.keys(**kw))


def itervalues(d: Any, **kw: Any) -> Any:
    """An iterator of the values."""
    return iter(d.values(**kw))


def iteritems(d: Any, **kw: Any) -> Any:
    """An iterator of the items."""
    return iter(d.items(**kw))


def iterlists(d: Any, **kw: Any) -> Any:
    """An iterator of the lists."""
    return iter(d.lists(**kw))


viewkeys = operator.methodcaller("keys")
viewvalues = operator.methodcaller("values")
viewitems = operator.methodcaller("items")


def get_unbound_function(unbound: Any) -> Any:
    """The function of a method of a class."""
    return unbound


def create_unbound_method(func: Any, cls: Any) -> Any:
    """A function as a method of a class."""
    return func


def with_metaclass(meta: Any, *bases: Any) -> Any:
    """A base class that makes a class with this metaclass."""

    class Metaclass(type):
        def __new__(cls, name: str, this_bases: Any, d: Any) -> Any:
            resolved = types.resolve_bases(bases)
            if resolved is not bases:
                d["__orig_bases__"] = bases
            return meta(name, resolved, d)

        @classmethod
        def __prepare__(cls, name: str, this_bases: Any, /, **kwds: Any) -> Any:
            return meta.__prepare__(name, bases)

    return type.__new__(Metaclass, "temporary_class", (), {})


def add_metaclass(metaclass: Any) -> Callable[[Any], Any]:
    """A decorator that makes the class again, with this metaclass."""

    def decorate(cls: Any) -> Any:
        members = dict(vars(cls))
        slots = members.get("__slots__")
        for name in [slots] if isinstance(slots, str) else slots or ():
            members.pop(name, None)
        members.pop("__dict__", None)
        members.pop("__weakref__", None)
        if hasattr(cls, "__qualname__"):
            members["__qualname__"] = cls.__qualname__
        return metaclass(cls.__name__, cls.__bases__, members)

    return decorate


def python_2_unicode_compatible(cls: Any) -> Any:
    """The class as it is."""
    return cls


def ensure_binary(s: Any, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Text or bytes as bytes."""
    if isinstance(s, str):
        return s.encode(encoding, errors)
    if isinstance(s, bytes):
        return s
    raise TypeError(f"not expecting type '{type(s)}'")


def ensure_text(s: Any, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Text or bytes as text."""
    if isinstance(s, bytes):
        return s.decode(encoding, errors)
    if isinstance(s, str):
        return s
    raise TypeError(f"not expecting type '{type(s)}'")


ensure_str = ensure_text


def reraise(tp: Any, value: Any, tb: Any = None) -> NoReturn:
    """Raises an exception with a traceback."""
    if value is None:
        value = tp()
    raise value.with_traceback(tb)


def raise_from(value: BaseException, from_value: BaseException | None) -> NoReturn:
    """Raises an exception with a cause."""
    raise value from from_value


def _method(name: str) -> Callable[..., Any]:
    """A function that calls a method of its first argument."""
    return lambda self, *args, **kwargs: getattr(self, name)(*args, **kwargs)


assertCountEqual = _method("assertCountEqual")
assertRaisesRegex = _method("assertRaisesRegex")
assertRegex = _method("assertRegex")
assertNotRegex = _method("assertNotRegex")
_ = moves
