"""The descriptor pool of our messages, apart from protobuf's default one.

Our messages have TensorFlow's full names (`tensorflow.GraphDef`). A pool holds a name
once, and the default pool is the one that TensorFlow's own modules use: with a pool of
our own one process can load both packages, in either order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import any_pb2, descriptor_pool, message_factory, wrappers_pb2
from google.protobuf.internal import builder

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FileDescriptor

POOL = descriptor_pool.DescriptorPool()


def build(file: FileDescriptor, module_name: str, module: dict[str, Any]) -> None:
    """Fills a generated module with the message classes and enums of its file."""
    builder.BuildMessageAndEnumDescriptors(file, module)
    builder.BuildTopDescriptorsAndMessages(file, module_name, module)
    for message in file.message_types_by_name.values():
        _accept_other_pools(message)


def _accept_other_pools(descriptor: Descriptor) -> None:
    """Lets a message class and the nested ones merge messages of other pools."""
    if descriptor.GetOptions().map_entry:
        return
    cls = message_factory.GetMessageClass(descriptor)
    own_merge = cls.MergeFrom
    own_copy = cls.CopyFrom

    def merge_from(self: Any, other: Any) -> None:
        """Merges a message of the same full name, of this pool or of another."""
        if type(other) is not cls and _has_name(other, descriptor):
            self.MergeFromString(other.SerializePartialToString())
        else:
            own_merge(self, other)

    def copy_from(self: Any, other: Any) -> None:
        """Becomes equal to a message of the same full name, of any pool."""
        if type(other) is not cls and _has_name(other, descriptor):
            self.ParseFromString(other.SerializePartialToString())
        else:
            own_copy(self, other)

    # A plain assignment: a class that protobuf made takes no other base.
    setattr(cls, "MergeFrom", merge_from)  # noqa: B010
    setattr(cls, "CopyFrom", copy_from)  # noqa: B010
    for nested in descriptor.nested_types:
        _accept_other_pools(nested)


def _has_name(message: Any, descriptor: Descriptor) -> bool:
    found = getattr(message, "DESCRIPTOR", None)
    return getattr(found, "full_name", None) == descriptor.full_name


class _AnyTypes:
    """Where the text and JSON formats find the message that an `Any` holds.

    Our pool first, then protobuf's default one, for messages of the program itself:
    `text_format.Parse(text, message, descriptor_pool=ANY_TYPES)`.
    """

    def FindMessageTypeByName(self, full_name: str) -> Descriptor:  # protobuf's name
        """The descriptor of a message.

        Raises:
          KeyError: neither pool has a message of that name.
        """
        try:
            return POOL.FindMessageTypeByName(full_name)
        except KeyError:
            return descriptor_pool.Default().FindMessageTypeByName(full_name)


# Any: protobuf's annotations ask for a pool, its code for this one method.
ANY_TYPES: Any = _AnyTypes()


def _add_file(serialized: bytes) -> list[Any]:
    """Adds one of protobuf's own files; its message classes."""
    file = POOL.AddSerializedFile(serialized)
    for message in file.message_types_by_name.values():
        _accept_other_pools(message)
    return [
        message_factory.GetMessageClass(message)
        for message in file.message_types_by_name.values()
    ]


# What our files import. The classes are held here: a descriptor does not keep its own.
PROTOBUF_CLASSES = tuple(
    cls
    for module in (any_pb2, wrappers_pb2)
    for cls in _add_file(module.DESCRIPTOR.serialized_pb)
)
