"""Modules in a wrapper, as libraries that TensorFlow generated have them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class ModuleWrapper(ModuleType):
    """A module with the names of another one, some of which are imported when used.

    TensorFlow's warns of names that TensorFlow 2 has elsewhere; this one does not.
    """

    def __init__(
        self,
        wrapped: ModuleType,
        module_name: str,
        public_apis: Mapping[str, tuple[str, str]] | None = None,
        deprecation: bool = True,
        has_lite: bool = False,
    ) -> None:
        """Takes the names of a module.

        Args:
          wrapped: the module.
          module_name: what it is called in TensorFlow's API.
          public_apis: name -> (module, name there), imported when used; the name is a
            module itself where the first is empty.
          deprecation, has_lite: not used.
        """
        super().__init__(wrapped.__name__, wrapped.__doc__)
        self.__dict__.update(wrapped.__dict__)
        self._wrapped = wrapped
        self._late = dict(public_apis or {})
        public = [name for name in dir(wrapped) if not name.startswith("_")]
        self.__all__ = list(public_apis or getattr(wrapped, "__all__", public))

    def __getattr__(self, name: str) -> Any:
        late = self.__dict__.get("_late", {}).get(name)
        if late is None:
            return getattr(self.__dict__["_wrapped"], name)
        place, what = late
        module = importlib.import_module(place or what)
        value = getattr(module, what) if place else module
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name not in ("_wrapped", "_late"):
            setattr(self._wrapped, name, value)

    def __dir__(self) -> list[str]:
        return self.__all__ if self._late else dir(self._wrapped)

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)
