"""Classes of objects that SavedModels name; loading makes such objects again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class VersionedTypeRegistration:
    """One version of a class.

    `object_factory` makes the object of a `SavedUserObject`, `setter` sets attributes
    of it. Files say by `min_consumer_version` and `bad_consumers` which versions can
    make the object; `min_producer_version` is the oldest that this one can read.
    """

    object_factory: Callable[[Any], Any]
    version: int
    min_producer_version: int
    min_consumer_version: int
    bad_consumers: Sequence[int] = ()
    setter: Callable[[Any, str, Any], None] = setattr
    identifier: str = ""

    def to_proto(self) -> Any:
        """What a SavedModel says of an object."""
        from tensorloom.protos import saved_object_graph_pb2

        proto = saved_object_graph_pb2.SavedUserObject(identifier=self.identifier)
        proto.version.producer = self.version
        proto.version.min_consumer = self.min_consumer_version
        proto.version.bad_consumers.extend(self.bad_consumers)
        return proto

    def from_proto(self, proto: Any) -> Any:
        """The object again, without its dependencies."""
        return self.object_factory(proto)

    def should_load(self, proto: Any) -> bool:
        """Whether this version makes the object of a message."""
        return (
            proto.identifier == self.identifier
            and self.version >= proto.version.min_consumer
            and proto.version.producer >= self.min_producer_version
            and self.version not in proto.version.bad_consumers
        )


_Registered = tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]
_REGISTRY: dict[str, _Registered] = {}


def register_revived_type(
    identifier: str,
    predicate: Callable[[Any], bool],
    versions: list[VersionedTypeRegistration],
) -> None:
    """Registers a class of objects.

    Args:
      identifier: what SavedModels call it.
      predicate: tells its objects.
      versions: at least one.

    Raises:
      AssertionError: no version, one twice, or an identifier that is taken.
    """
    if not versions:
        raise AssertionError("Need at least one version of a registered type.")
    numbers = [one.version for one in versions]
    for number in numbers:
        if numbers.count(number) > 1:
            raise AssertionError(
                f"Got multiple registrations with version {number} for type "
                f"{identifier}"
            )
    if identifier in _REGISTRY:
        raise AssertionError(f"Duplicate registrations for type {identifier}")
    for one in versions:
        one.identifier = identifier
    newest_first = sorted(versions, key=lambda one: one.version, reverse=True)
    _REGISTRY[identifier] = predicate, newest_first


def serialize(obj: Any) -> Any:
    """The `SavedUserObject` of an object; None if its class is not registered."""
    for predicate, versions in _REGISTRY.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


def deserialize(proto: Any) -> tuple[Any, Callable[[Any, str, Any], None]] | None:
    """The object of a `SavedUserObject` and its setter; None for unknown classes."""
    _, versions = _REGISTRY.get(proto.identifier, (None, []))
    for one in versions:
        if one.should_load(proto):
            return one.from_proto(proto), one.setter
    return None


def registered_identifiers() -> list[str]:
    """All identifiers."""
    return list(_REGISTRY)
