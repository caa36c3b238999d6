"""Variables that the first replica makes, and the other ones find again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_NUMBER_INSIDE = re.compile(r"_\d/")
_NUMBER_AT_END = re.compile(r"_\d$")


def _common_name(name: str | None) -> str:
    """The name without the numbers that make it unique in one replica."""
    if name is None:
        return "Variable"
    return _NUMBER_AT_END.sub("", _NUMBER_INSIDE.sub("/", name))


def make_fn(store: dict[str, list[Any]], device_id: int) -> Callable[..., Any]:
    """The variable creator of a replica.

    Args:
      store: the variables that the first replica made, by their common names.
      device_id: which replica.

    Raises (when it is called):
      RuntimeError: another replica makes a variable that the first one did not.
    """
    uses: dict[str, int] = {}

    def create(next_creator: Any, **options: Any) -> Any:
        variable = next_creator(**options)
        store.setdefault(_common_name(options.get("name")), []).append(variable)
        return variable

    def find(next_creator: Any, **options: Any) -> Any:
        name = options.get("name")
        common = _common_name(name)
        index = uses.get(common, 0)
        found = store.get(common, ())
        if index >= len(found):
            raise RuntimeError(
                f"Tried to create variable {name} with mismatching name on device "
                f"{device_id}."
            )
        uses[common] = index + 1
        return found[index]

    return find if device_id else create
