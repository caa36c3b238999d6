"""What `Session.run` takes beside tensors and operations, by type.

A fetch of a registered type is replaced by tensors whose values are put together
again; a feed of it is spread over tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tensorloom.framework.types.indexed_slices import IndexedSlices, IndexedSlicesValue
from tensorloom.framework.types.sparse_tensor import SparseTensor, SparseTensorValue
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor

# fetch -> (things to fetch, from their values to the result)
FetchFunction = Callable[[Any], "tuple[Sequence[Any], Callable[[Any], Any]]"]
# (feed key, value) -> pairs of (tensor, its value)
FeedFunction = Callable[[Any, Any], Iterable[tuple[Any, Any]]]
# feed key -> tensors
FeedKeysFunction = Callable[[Any], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a type of fetches and feeds is taken apart."""

    type: type
    fetch: FetchFunction
    feed: FeedFunction | None
    feed_keys: FeedKeysFunction | None


def _sparse_tensor_feed(feed: SparseTensor, value: Any) -> Iterable[tuple[Any, Any]]:
    return zip(feed.composite_parts(), value, strict=False)


def _indexed_slices_value(values: Sequence[Any]) -> IndexedSlicesValue:
    shape = values[2] if len(values) == 3 else None
    return IndexedSlicesValue(values[0], values[1], shape)


def _indexed_slices_feed(feed: IndexedSlices, value: Any) -> Iterable[tuple[Any, Any]]:
    return zip(feed.composite_parts(), value, strict=False)


_CONVERSIONS: list[Conversion] = [
    Conversion(
        SparseTensor,
        lambda fetch: (fetch.composite_parts(), lambda v: SparseTensorValue(*v)),
        _sparse_tensor_feed,
        lambda feed: feed.composite_parts(),
    ),
    Conversion(
        RaggedTensor,
        lambda fetch: (fetch.composite_parts(), fetch.session_value),
        lambda feed, value: zip(
            feed.composite_parts(), feed.feed_parts(value), strict=True
        ),
        lambda feed: feed.composite_parts(),
    ),
    Conversion(
        IndexedSlices,
        lambda fetch: (fetch.composite_parts(), _indexed_slices_value),
        _indexed_slices_feed,
        lambda feed: feed.composite_parts(),
    ),
]


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: FetchFunction,
    feed_function: FeedFunction | None = None,
    feed_function_for_partial_run: FeedKeysFunction | None = None,
) -> None:
    """Lets `Session.run` fetch and feed objects of a type.

    Args:
      tensor_type: the type; its subclasses follow it.
      fetch_function: `fetch -> (elements, contract)`: what to fetch for it, and how
        the list of their values becomes the result.
      feed_function: `(feed, value) -> [(element, value), ...]`.
      feed_function_for_partial_run: `feed -> [element, ...]`.

    Raises:
      ValueError: the type, or a subclass of it, is registered already.
    """
    for known in _CONVERSIONS:
        if issubclass(known.type, tensor_type):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _CONVERSIONS.insert(
        0,
        Conversion(
            tensor_type, fetch_function, feed_function, feed_function_for_partial_run
        ),
    )


def find_conversion(obj: Any) -> Conversion | None:
    """The conversion of an object's type, or None."""
    for known in _CONVERSIONS:
        if isinstance(obj, known.type):
            return known
    return None


def expand_feed(feed: Any, value: Any) -> Iterable[tuple[Any, Any]]:
    """The (tensor-like, value) pairs that one item of a feed_dict stands for.

    Raises:
      TypeError: the type is registered without a feed function.
    """
    conversion = find_conversion(feed)
    if conversion is None:
        return ((feed, value),)
    if conversion.feed is None:
        raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed)!r}")
    return conversion.feed(feed, value)


def expand_feed_key(feed: Any) -> Sequence[Any]:
    """The tensor-likes that one key of a feed_dict stands for.

    Raises:
      TypeError: the type is registered without a feed function.
    """
    conversion = find_conversion(feed)
    if conversion is None:
        return (feed,)
    if conversion.feed_keys is None:
        raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed)!r}")
    return conversion.feed_keys(feed)
