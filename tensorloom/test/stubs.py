"""`tf.test.StubOutForTesting`: replaces attributes for the time of a test."""

from __future__ import annotations

import inspect
from typing import Any


class StubOutForTesting:
    """Replaces attributes of modules, classes and objects, and puts them back.

    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(os.path, "exists", lambda path: True)
    """

    def __init__(self) -> None:
        self.cache: list[tuple[Any, Any, str]] = []
        self.stubs: list[tuple[Any, str, Any]] = []

    def __del__(self) -> None:
        self.CleanUp()

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *unused: object) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Puts back all that was replaced."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute where it is found: of an object, in its class.

        Raises:
          AttributeError: there is no such attribute.
        """
        owner = obj
        if not (inspect.ismodule(obj) or _is_own(obj, attr_name)):
            cls = obj if inspect.isclass(obj) else type(obj)
            if not hasattr(obj, attr_name):
                raise AttributeError("Attribute not found.")
            owner = next(c for c in inspect.getmro(cls) if hasattr(c, attr_name))
        self.stubs.append((owner, attr_name, _attribute(owner, attr_name)))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Puts back what `SmartSet` replaced."""
        for owner, name, old in reversed(self.stubs):
            setattr(owner, name, old)
        self.stubs = []

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute of just this module, class or object.

        Raises:
          AttributeError: there is no such attribute.
        """
        self.cache.append((parent, _attribute(parent, child_name), child_name))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Puts back what `Set` replaced."""
        for parent, old, name in reversed(self.cache):
            setattr(parent, name, old)
        self.cache = []


def _is_own(obj: Any, name: str) -> bool:
    return not inspect.isclass(obj) and name in vars(obj)


def _attribute(owner: Any, name: str) -> Any:
    """The attribute as it has to be set again: a static method stays one.

    Raises:
      AttributeError: there is no such attribute.
    """
    try:
        return inspect.getattr_static(owner, name)
    except AttributeError:  # made on demand
        return getattr(owner, name)
