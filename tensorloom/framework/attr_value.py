"""Decoded attr values, and their way to and from the `AttrValue` proto."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class NameAttrList:
    """A function with attrs: the value of an attr of type `func`."""

    name: str
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttrPlaceholder:
    """An attr that stands for an attr of the function around it."""

    name: str
