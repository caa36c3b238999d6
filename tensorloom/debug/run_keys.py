"""What names a `Session.run`: its feeds and fetches."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

GRPC_URL_PREFIX: Final = "grpc://"


class RunKey(NamedTuple):
    """The names of what a run feeds and fetches."""

    feed_names: list[str]
    fetch_names: list[str]


def get_graph_element_name(elem: Any) -> str:
    """The name of a tensor, operation or variable; `str` of what has none."""
    return str(getattr(elem, "name", elem))


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names of all that is in lists, tuples and dicts."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, list | tuple):
        return [name for item in feeds_or_fetches for name in get_flattened_names(item)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """The names of what a run feeds and fetches, as JSON."""
    return json.dumps(
        RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches))
    )
