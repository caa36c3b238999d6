"""`DecodeProtoV2` finds extensions by their full names."""

from __future__ import annotations

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import tensorloom as tf

FIELD = descriptor_pb2.FieldDescriptorProto


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="extended.proto", package="own")
    message = file.message_type.add(name="Extended")
    message.extension_range.add(start=100, end=200)
    extension = file.extension.add(name="more", number=101, extendee=".own.Extended")
    extension.type, extension.label = FIELD.TYPE_INT32, FIELD.LABEL_REPEATED
    return file


def test_an_extension() -> None:
    file = _file()
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    extended = message_factory.GetMessageClass(
        pool.FindMessageTypeByName("own.Extended")
    )
    message = extended()
    message.Extensions[pool.FindExtensionByName("own.more")].extend([3, 4])
    files = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    sizes, (values,) = tf.io.decode_proto(
        [message.SerializeToString()],
        "own.Extended",
        ["own.more"],
        [tf.int32],
        b"bytes://" + files,
    )
    with tf.Session() as session:
        assert session.run(sizes).tolist() == [[2]]
        assert session.run(values).tolist() == [[3, 4]]
