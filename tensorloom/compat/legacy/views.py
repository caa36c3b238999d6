"""Modules as the program sees them: today's, with what is gone given back."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from tensorloom.compat.legacy import detours
from tensorloom.compat.legacy.notices import tell
from tensorloom.compat.legacy.replacements import CHANGED, GONE, MODULES

_views: dict[str, ModuleType] = {}


_HOOKS: Final = ("__getattr__", "__dir__")


class ModuleView(ModuleType):
    """A module with names added; what the program sets goes to the module itself."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        # A copy, so that a name which is there costs no more than without a view. The
        # module's own `__getattr__` would be asked before ours.
        own = {k: v for k, v in module.__dict__.items() if k not in _HOOKS}
        self.__dict__.update(own)
        self.__dict__["_tl_module"] = module
        for name, path in CHANGED.get(module.__name__, {}).items():
            self.__dict__[name] = _changed(path)
        if module.__name__ == "numpy":
            # NumPy has this name still, and warns whenever it is looked at.
            self.__dict__.pop("core", None)

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__["_tl_module"]
        gone = GONE.get(module.__name__, {}).get(name)
        if gone is not None and name not in module.__dict__:
            value = gone.make()
            tell(
                f"{module.__name__}.{name} (gone since {gone.gone_since})", gone.instead
            )
        elif f"{module.__name__}.{name}" in _WITH_VIEWS and not name.startswith("_"):
            value = view_of(importlib.import_module(f"{module.__name__}.{name}"))
        else:
            return getattr(module, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_tl_module"], name, value)
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_tl_module"], name)
        self.__dict__.pop(name, None)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_tl_module"])

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)


class _BuiltinsView(ModuleView):
    """The builtins, for programs that add to them."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        program_builtins()[name] = value


def _changed(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(f"tensorloom.compat.legacy.{module}"), name)


_WITH_VIEWS = frozenset([*GONE, *CHANGED])
# A module below one of these is reached through its view.
_PARENTS = frozenset(name.rpartition(".")[0] for name in _WITH_VIEWS if "." in name)


def view_of(module: ModuleType) -> ModuleType:
    """The module as the program sees it; the module itself if nothing of it is gone."""
    name = getattr(module, "__name__", "")
    if name == "builtins":
        return _BuiltinsView(module)
    if name not in _WITH_VIEWS and name not in _PARENTS:
        return module
    if isinstance(module, ModuleView) or sys.modules.get(name) is not module:
        return module
    view = _views.get(name)
    if view is None or view.__dict__["_tl_module"] is not module:
        view = _views[name] = ModuleView(module)
        # Modules below that have views are asked for through it.
        for other in _WITH_VIEWS:
            parent, _, last = other.rpartition(".")
            if parent == name:
                view.__dict__.pop(last, None)
    return view


def import_with_views(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """`__import__` of the program: it returns views."""
    if level == 0:
        for path in (name, *(f"{name}.{item}" for item in fromlist or ())):
            if path in MODULES:
                _place_below_plain_module(path)
    module = builtins.__import__(name, globals, locals, fromlist or (), level)
    return view_of(module) if level == 0 else module


@cache
def program_builtins() -> dict[str, Any]:
    """The builtins of the program's modules."""
    return {**vars(builtins), "__import__": import_with_views, **detours.BUILTINS}


def _place_below_plain_module(name: str) -> None:
    """Puts ours for a module that is gone below a parent that is no package any more.

    Python looks for modules below packages only, so no finder is asked for these.
    """
    parent_name, _, last = name.rpartition(".")
    if not parent_name or name in sys.modules or find_spec(parent_name) is None:
        return
    parent = importlib.import_module(parent_name)
    if not hasattr(parent, "__path__"):
        module = missing_module(name)
        assert module is not None, name
        sys.modules[name] = module
        setattr(parent, last, module)


def missing_module(name: str) -> ModuleType | None:
    """Ours for a module that is gone; None if there is none."""
    gone = MODULES.get(name)
    if gone is None:
        return None
    made: ModuleType = gone.make()
    tell(f"module {name} (gone since {gone.gone_since})", gone.instead)
    return made
