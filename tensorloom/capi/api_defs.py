"""`ApiDefMap` as the C API calls it."""

from __future__ import annotations

from tensorloom.framework.registry.api_defs import ApiDefMap

__all__ = ["ApiDefMap", "get", "put"]


def put(api_def_map: ApiDefMap, text: bytes) -> None:
    """See `ApiDefMap.put`."""
    api_def_map.put(text.decode("utf-8", "replace"))


def get(api_def_map: ApiDefMap, name: str) -> bytes | None:
    """See `ApiDefMap.get`."""
    return api_def_map.get(name)
