"""The public names of columns, which are in several packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tensorloom.framework.export import export

T = TypeVar("T", bound=Callable[..., Any])
_PACKAGES = ("layers", "slim")


def declared(name: str, *more_packages: str) -> Callable[[T], T]:
    """Declares a name of `contrib.layers`, `contrib.slim` and further packages."""
    packages = (*_PACKAGES, *more_packages)
    return export(*(f"contrib.{package}.{name}" for package in packages))


def declared_column(name: str) -> Callable[[T], T]:
    """Declares a name that is in the module of columns too."""
    return declared(name, "layers.feature_column")
