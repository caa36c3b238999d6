"""A `Session.run` call, prepared: everything that depends only on what is run.

The first call with given fetches and feed keys makes a function; later ones call it: it
converts the fed values, runs the step and packs the results, and looks up nothing by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.session.feed_conversion import Converter, feed_converter
from tensorloom.client.session.session_conversions import expand_feed, expand_feed_key
from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.graph.graph import Graph, Operation, Tensor
from tensorloom.framework.interfaces import PreparedStep, StepContext, StepSignature
from tensorloom.framework.types import constant_value, nest

if TYPE_CHECKING:
    from tensorloom.client.session.fetch_mapper import FetchPlan, Packer

# From (feed_dict, step) to the results in the structure of the fetches.
RunFunction = Callable[[Mapping[Any, Any], "StepContext | None"], Any]
Prepare = Callable[[StepSignature], PreparedStep]


def plan_key(fetches: Any, feed_dict: Any) -> Any:
    """The key under which `run` finds a plan again; None when there is none.

    A list or tuple of tensors, operations and names stands for its elements. Equal
    keys mean equal plans: so structures inside of it, where a tuple equals a
    namedtuple, and objects with an equality of their own are compiled every time.
    """
    kind = type(fetches)
    if kind is list or kind is tuple:
        if not all(_is_atom(fetch) for fetch in fetches):
            return None
        key: Any = (kind, *fetches)
    elif _is_atom(fetches):
        key = fetches
    else:
        return None
    if not feed_dict:
        return key
    return (key, *feed_dict) if all(_is_atom(feed) for feed in feed_dict) else None


def _is_atom(obj: Any) -> bool:
    return isinstance(obj, (Tensor, Operation, str)) or hasattr(
        obj, "_as_graph_element"
    )


class FeedPlan:
    """The keys of a feed_dict, compiled.

    `tensors` are the fed tensors in the order of the values that `convert` gives.
    """

    __slots__ = ("_is_simple", "_places", "converters", "tensors")

    def __init__(self, graph: Graph, feed_dict: Mapping[Any, Any]) -> None:
        """Compiles the keys of `feed_dict`.

        Raises:
          TypeError: a key is no tensor of the graph, or a value cannot be fed.
          ValueError: a tensor must not be fed, or key and value differ in structure.
        """
        flat = nest.flatten_dict_items(feed_dict)
        self._is_simple = len(flat) == len(feed_dict)
        self.tensors: list[Tensor] = []
        for feed in flat:
            elements = _fed_elements(graph, feed)
            self._is_simple &= elements == [feed]
            self.tensors += [_fed_tensor(graph, element) for element in elements]
        self._places = {tensor: i for i, tensor in enumerate(self.tensors)}
        # The same tensor under two keys: the later value counts.
        if len(self._places) != len(self.tensors):
            self._is_simple = False
            self.tensors = list(self._places)
            self._places = {tensor: i for i, tensor in enumerate(self.tensors)}
        self.converters: list[Converter] = [feed_converter(t) for t in self.tensors]
        if not self._is_simple:
            self._bind_names(graph, flat)

    def _bind_names(self, graph: Graph, flat: Mapping[Any, Any]) -> None:
        """Lets `convert` find the keys that are not tensors themselves."""
        places: dict[Any, int] = dict(self._places)
        for feed in flat:
            for element in _fed_elements(graph, feed):
                places[element] = self._places[_fed_tensor(graph, element)]
        self._places = places

    @property
    def is_simple(self) -> bool:
        """Whether there is one value for each key, in the keys' order."""
        return self._is_simple

    def convert(self, feed_dict: Mapping[Any, Any]) -> list[Any]:
        """The values of a feed_dict with the same keys, converted."""
        if self._is_simple:
            values = feed_dict.values()
            return [c(v) for c, v in zip(self.converters, values, strict=True)]
        fed: list[Any] = [_MISSING] * len(self.tensors)
        for feed, value in nest.flatten_dict_items(feed_dict).items():
            for element, part in expand_feed(feed, value):
                place = self._places.get(element)
                if place is None:
                    raise ValueError(f"Tensor {element} may not be fed.")
                fed[place] = self.converters[place](part)
        for place, tensor in enumerate(self.tensors):
            if fed[place] is _MISSING:
                fed[place] = _own_value(tensor)
        return fed


class _Missing:
    """Stands where a composite feed was given too few values."""


_MISSING = _Missing()


def _own_value(tensor: Tensor) -> np.ndarray[Any, Any]:
    """What a tensor is without a feed, such as the fixed shape of a sparse placeholder.

    Raises:
      InvalidArgumentError: it has to be fed.
    """
    value = constant_value.evaluate(tensor)
    if value is None:
        raise InvalidArgumentError(
            None, tensor.op, f"The feed has no value for {tensor}."
        )
    return value


def _fed_elements(graph: Graph, feed: Any) -> Sequence[Any]:
    """What a key stands for.

    The part of a composite that may not be fed, such as a shape whose value has been
    used, is left out: a feed need not have a value for it.
    """
    if _is_plain(feed):
        return [feed]
    elements = expand_feed_key(feed)
    if len(elements) == 1:
        return elements
    return [
        element
        for element in elements
        if not isinstance(element, Tensor) or graph.is_feedable(element)
    ]


def _is_plain(feed: Any) -> bool:
    return isinstance(feed, (Tensor, str))


def _fed_tensor(graph: Graph, feed: Any) -> Tensor:
    try:
        with graph.as_default():
            tensor: Tensor = graph.as_graph_element(feed, allow_operation=False)
    except (TypeError, ValueError, KeyError) as error:
        raise TypeError(
            f"Cannot interpret feed_dict key as Tensor: {error.args[0]}"
        ) from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def fed_tensors(graph: Graph, feeds: Sequence[Any]) -> list[Tensor]:
    """The tensors that a list of feed keys stands for.

    Raises:
      TypeError, ValueError: as `FeedPlan`.
    """
    return [
        _fed_tensor(graph, element)
        for feed in feeds
        for element in ([feed] if _is_plain(feed) else expand_feed_key(feed))
    ]


def make_run_function(
    fetches: FetchPlan, feeds: FeedPlan | None, prepare: Prepare
) -> RunFunction:
    """The function that runs a step with these fetches and feed keys.

    What is both fed and fetched comes back as it was fed, and takes no part in the
    step; without anything else to fetch or run, there is no step at all.
    """
    fed = [] if feeds is None else feeds.tensors
    places = {tensor: i for i, tensor in enumerate(fed)}
    computed = [t for t in fetches.tensors if t not in places]
    signature, order = _signature(fed, computed, fetches.targets)
    pack = fetches.pack
    if len(computed) != len(fetches.tensors):
        pack = _pack_with_feeds(fetches, places, computed)
    if not computed and not fetches.targets:
        return _run_nothing(feeds, pack)
    run = prepare(signature).run
    if len(computed) != len(fetches.tensors):
        return _run_with_fed_fetches(run, feeds, order, pack)
    if feeds is None:
        return lambda feed_dict, step: pack(run((), step))
    if order is None and feeds.is_simple:
        converters = feeds.converters
        if len(converters) == 1:
            return _run_with_one_feed(run, converters[0], pack)
        return lambda feed_dict, step: pack(
            run(
                [c(v) for c, v in zip(converters, feed_dict.values(), strict=True)],
                step,
            )
        )
    ordered = _ordered_feeds(feeds, order)
    return lambda feed_dict, step: pack(run(ordered(feed_dict), step))


def _run_with_one_feed(
    run: Callable[..., list[Any]], convert: Converter, pack: Packer
) -> RunFunction:
    def run_step(feed_dict: Mapping[Any, Any], step: StepContext | None) -> Any:
        (value,) = feed_dict.values()
        return pack(run((convert(value),), step))

    return run_step


def _signature(
    fed: Sequence[Tensor], computed: Sequence[Tensor], targets: Sequence[Operation]
) -> tuple[StepSignature, list[int] | None]:
    """The step's signature, with feeds in the order of their names.

    Also the places of the feeds in that order; None when it is their own. So one
    prepared step serves every order in which a user writes the feed_dict.
    """
    names = [tensor.name for tensor in fed]
    order = sorted(range(len(names)), key=names.__getitem__)
    signature = StepSignature(
        tuple([names[i] for i in order]),
        tuple([tensor.name for tensor in computed]),
        tuple([op.name for op in targets]),
    )
    return signature, None if order == list(range(len(names))) else order


def _ordered_feeds(
    feeds: FeedPlan, order: list[int] | None
) -> Callable[[Mapping[Any, Any]], list[Any]]:
    def convert(feed_dict: Mapping[Any, Any]) -> list[Any]:
        values = feeds.convert(feed_dict)
        return values if order is None else [values[i] for i in order]

    return convert


def _run_nothing(feeds: FeedPlan | None, pack: Packer) -> RunFunction:
    if feeds is None:
        return lambda feed_dict, step: pack([])
    return lambda feed_dict, step: pack(feeds.convert(feed_dict))


def _pack_with_feeds(
    fetches: FetchPlan, places: Mapping[Tensor, int], computed: Sequence[Tensor]
) -> Packer:
    """A packer over the fed values followed by the computed ones."""
    later = {tensor: len(places) + i for i, tensor in enumerate(computed)}
    sources = [
        places[tensor] if tensor in places else later[tensor]
        for tensor in fetches.tensors
    ]
    pack, fed = fetches.pack, len(places)
    return lambda values: pack(
        [_given_back(values[i]) if i < fed else values[i] for i in sources]
    )


def _run_with_fed_fetches(
    run: Callable[..., list[Any]],
    feeds: FeedPlan | None,
    order: list[int] | None,
    pack: Packer,
) -> RunFunction:
    assert feeds is not None

    def run_step(feed_dict: Mapping[Any, Any], step: StepContext | None) -> Any:
        values = feeds.convert(feed_dict)
        ordered = values if order is None else [values[i] for i in order]
        return pack(values + run(ordered, step))

    return run_step


def _given_back(value: Any) -> Any:
    """A fed value as it is fetched: as an array, and not the one that was fed."""
    return np.array(value) if isinstance(value, np.generic | np.ndarray) else value
