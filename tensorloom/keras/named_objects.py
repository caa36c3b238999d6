"""Objects that are told by a name or a configuration, such as initializers."""

from __future__ import annotations

import functools
import inspect
from types import TracebackType
from typing import Any

from tensorloom.framework.export import export

_custom_objects: dict[str, Any] = {}


@export("keras.utils.get_custom_objects")
def get_custom_objects() -> dict[str, Any]:
    """Objects of the program by name; what is put in is found by every `get`."""
    return _custom_objects


@export("keras.utils.CustomObjectScope")
class CustomObjectScope:
    """Context manager: names in the given dicts are found inside.

    Args:
      args: dicts from name to class or function.
    """

    def __init__(self, *args: Any) -> None:
        self.custom_objects = args
        self._before: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self._before = dict(_custom_objects)
        for objects in self.custom_objects:
            _custom_objects.update(objects or {})
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _custom_objects.clear()
        _custom_objects.update(self._before)


@export("keras.utils.custom_object_scope")
def custom_object_scope(*args: Any) -> CustomObjectScope:
    """A `CustomObjectScope` of the given dicts."""
    return CustomObjectScope(*args)


@export("keras.utils.serialize_keras_object")
def serialize_keras_object(instance: Any) -> Any:
    """What `deserialize_keras_object` makes the object of again.

    Returns None for None, `{"class_name", "config"}` for what has a `get_config`, and
    the name of a function.

    Raises:
      ValueError: the object is none of these.
    """
    if isinstance(instance, functools.partial):
        instance = instance.func
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {
            "class_name": type(instance).__name__,
            "config": instance.get_config(),
        }
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


@export("keras.utils.deserialize_keras_object")
def deserialize_keras_object(
    identifier: Any,
    module_objects: Any = None,
    custom_objects: Any = None,
    printable_module_name: str = "object",
) -> Any:
    """The object that a name or a configuration tells.

    Args:
      identifier: a name, or a dict with `class_name` and `config`.
      module_objects: what is known, by name.
      custom_objects: what the caller knows beside that.
      printable_module_name: the kind of object, for messages.

    Raises:
      ValueError: an unknown name, or a dict of another form.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return _from_config(
            identifier, module_objects, custom_objects, printable_module_name
        )
    if isinstance(identifier, str):
        found = _find(identifier, module_objects, custom_objects)
        if found is None:
            raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        return found() if inspect.isclass(found) else found
    raise ValueError(
        f"Could not interpret serialized {printable_module_name}: {identifier}"
    )


def _find(name: str, module_objects: Any, custom_objects: Any) -> Any:
    for known in (custom_objects, _custom_objects, module_objects):
        if known and name in known:
            return known[name]
    return None


def _from_config(
    described: dict[str, Any], module_objects: Any, custom_objects: Any, kind: str
) -> Any:
    if "class_name" not in described or "config" not in described:
        raise ValueError(f"Improper config format: {described}")
    name, config = described["class_name"], described["config"]
    found = _find(name, module_objects, custom_objects)
    if found is None:
        raise ValueError(f"Unknown {kind}: {name}")
    make = getattr(found, "from_config", None)
    if make is None:
        with CustomObjectScope(custom_objects):
            return found(**config)
    if "custom_objects" in inspect.signature(make).parameters:
        known = {**_custom_objects, **(custom_objects or {})}
        return make(config, custom_objects=known)
    with CustomObjectScope(custom_objects):
        return make(config)
