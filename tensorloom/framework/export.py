"""Public names: `@export("add", "math.add")` says what a user types after `tf.`.

The table is the one list of the public API. `install` turns it into real modules
(`tensorloom.math`, `tensorloom.nn`, ...), and the compatibility page is generated
from it. A name whose module is not loaded yet has a place in the index
(`registry/public_index.py`): the module is imported when the name is first used.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, TypeVar

from tensorloom.framework.registry import late_modules

T = TypeVar("T")

_EXPORTS: dict[str, Any] = {}
_DECLARED_BY: dict[str, str] = {}
# Public name -> module that declares it, for those that are not loaded yet.
_PLACES: dict[str, str] = {}
# Namespace ("" is tf itself) -> the last parts of the names in it.
_CHILDREN: dict[str, set[str]] = {}


def export(*names: str) -> Callable[[T], T]:
    """Declares the public names of a function or class, without the leading `tf.`.

    Raises:
      ValueError: a name is taken by another object.
    """

    def declare(value: T) -> T:
        export_value(value, *names)
        return value

    return declare


def export_value(value: Any, *names: str) -> None:
    """Declares the public names of any object, such as a constant.

    Raises:
      ValueError: a name is another object's already.
    """
    for name in names:
        if _EXPORTS.setdefault(name, value) is not value:
            raise ValueError(f"public name 'tf.{name}' is declared twice")
    module = declaring_module()
    for name in names:
        _DECLARED_BY[name] = module


def declaring_module() -> str:
    """The module whose import is going on, innermost."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


# What takes over when a public function refuses its arguments: see `dispatch`.
Handler = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
NOT_HANDLED: Final = object()
# Of the functions that have handlers, by their ids: these, and what programs call.
_HANDLERS: dict[int, list[Handler]] = {}
_DISPATCHING: dict[int, Callable[..., Any]] = {}
# Public names of such functions, and the modules that register handlers.
_DISPATCHED: set[str] = set()
_handlers_in: set[str] = set()


def dispatch(name: str, handler: Handler) -> None:
    """Says what takes over when a public function refuses its arguments.

    Args:
      handler: called with the function, its positional and its keyword arguments after
        a TypeError or ValueError. It returns NOT_HANDLED to leave it to the others, and
        to let the error through.

    Raises:
      KeyError: no such function is declared yet.
    """
    _HANDLERS.setdefault(id(_EXPORTS[name]), []).append(handler)
    _handlers_in.add(declaring_module())


def _dispatching(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            for module in sorted(_handlers_in):
                late_modules.import_module(module)
            for handler in _HANDLERS.get(id(function), ()):
                result = handler(function, args, kwargs)
                if result is not NOT_HANDLED:
                    return result
            raise

    return call


@dataclass(frozen=True)
class Places:
    """Where public names come from, so that their modules can be loaded late."""

    modules: dict[str, str]  # public name -> module that declares it
    dispatched: list[str]  # public names of functions that have handlers
    handlers: list[str]  # modules that register handlers


def places() -> Places:
    """The places of all names that were declared so far."""
    dispatched = [name for name, value in _EXPORTS.items() if id(value) in _HANDLERS]
    return Places(dict(_DECLARED_BY), dispatched, sorted(_handlers_in))


def add_places(places: Places) -> None:
    """Says of names which modules declare them, so that these can be loaded later."""
    _PLACES.update(places.modules)
    _DISPATCHED.update(places.dispatched)
    _handlers_in.update(places.handlers)


def find(name: str) -> Any:
    """What a public name stands for; its module is loaded if need be.

    Raises:
      KeyError: there is no such name.
    """
    if name not in _EXPORTS and name in _PLACES:
        late_modules.import_module(_PLACES[name])
    value = _EXPORTS[name]
    if name not in _DISPATCHED:
        return value
    if id(value) not in _DISPATCHING:
        _DISPATCHING[id(value)] = _dispatching(value)
    return _DISPATCHING[id(value)]


def names() -> list[str]:
    """All public names. Nothing is loaded for it."""
    return list(dict.fromkeys((*_EXPORTS, *_PLACES)))


def exports() -> dict[str, Any]:
    """All public names with what they stand for. Loads all of their modules."""
    return {name: find(name) for name in names()}


def add_fallback(path: str, function: Callable[[str], Any]) -> None:
    """Has names that are not declared in a namespace asked for elsewhere.

    Args:
      function: gives what a name stands for, or raises AttributeError.
    """
    _FALLBACKS[path] = function


# Namespace -> what is asked for names that are not declared.
_FALLBACKS: dict[str, Callable[[str], Any]] = {}


class _ModulePaths:
    """Where modules are found that are below public ones without being public."""

    find: Callable[[str], ModuleType | None] = staticmethod(lambda _: None)


_MODULE_PATHS: Final = _ModulePaths()


def add_module_paths(find: Callable[[str], ModuleType | None]) -> None:
    """Has modules such as `contrib.slim.python` found when they are asked for.

    Args:
      find: gives the module of a path below the root, or None if there is no such path.
    """
    _MODULE_PATHS.find = find


def loaded_names(module: ModuleType) -> dict[str, Any]:
    """The `__dict__` of a module as it is: what was used of it so far."""
    found: dict[str, Any] = _DICT_OF_MODULE(module)
    return found


_DICT_OF_MODULE: Final = vars(ModuleType)["__dict__"].__get__


class _PublicModule(ModuleType):
    """A module of public names, which are loaded when they are first used."""

    def __getattr__(self, name: str) -> Any:
        path = _path_of(self)
        if name not in _CHILDREN.get(path, ()):
            if name == "__all__":  # for `from tensorloom import *`
                return sorted(_CHILDREN.get(path, ()))
            if path in _FALLBACKS:
                return _FALLBACKS[path](name)
            module = _MODULE_PATHS.find(f"{path}.{name}".lstrip("."))
            if module is not None:
                return module
            raise AttributeError(
                f"module {self.__name__!r} has no attribute {name!r}",
                name=name,
                obj=self,
            )
        public = f"{path}.{name}".lstrip(".")
        if public in _CHILDREN:
            return importlib.import_module(f"{self.__name__}.{name}")
        value = find(public)
        super().__setattr__(name, value)
        return value

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All names with what they stand for, loaded, for `tf.nn.__dict__.values()`."""
        for name in _CHILDREN.get(_path_of(self), ()):
            with suppress(AttributeError):
                getattr(self, name)
        return loaded_names(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            public = f"{_path_of(self)}.{name}".lstrip(".")
            if public in _CHILDREN:
                _adopt(value)
            elif public in _EXPORTS or public in _PLACES:
                # The import of a file called as the function in it: `tf.nn.swish` is
                # the function.
                return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*loaded_names(self), *_CHILDREN.get(_path_of(self), ())})


def _adopt(module: ModuleType) -> None:
    """Makes a module of ours one whose public names are loaded when they are used."""
    if type(module) is not ModuleType:
        return
    path = _path_of(module)
    for name in _CHILDREN.get(path, ()):
        found = vars(module).get(name)
        public = f"{path}.{name}".lstrip(".")
        if isinstance(found, ModuleType) and public not in _CHILDREN:
            delattr(module, name)  # a file called as the function in it
    module.__class__ = _PublicModule


def _path_of(module: ModuleType) -> str:
    return module.__name__.partition(".")[2]


def install(root: ModuleType, files: frozenset[str] = frozenset()) -> None:
    """Gives `root` and modules below it every public name.

    A package of ours that exists under the same name (`tensorloom.train`) is used;
    where none exists, a module is made, so that both `tf.nn.relu` and
    `from tensorloom import nn` work.

    Args:
      files: the namespaces ("train", "saved_model.builder") that are packages or
        modules of ours. They are imported when they are first used.
    """
    for name in names():
        path, _, last = name.rpartition(".")
        _CHILDREN.setdefault(path, set()).add(last)
    for path in list(_CHILDREN):
        while path:
            path, _, last = path.rpartition(".")
            _CHILDREN.setdefault(path, set()).add(last)
    _adopt(root)
    for path in sorted(_CHILDREN):
        if path and (path not in files or f"{root.__name__}.{path}" in sys.modules):
            _namespace(root, path)


def _namespace(root: ModuleType, path: str) -> None:
    """Makes the module of a namespace, or makes a public one of what is loaded."""
    full_name = f"{root.__name__}.{path}"
    module = sys.modules.get(full_name)
    if module is None:
        module = _PublicModule(full_name, f"Public names under `tf.{path}`.")
        module.__path__ = []  # a package, so that deeper imports resolve
        sys.modules[full_name] = module
    parent, _, last = full_name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)
