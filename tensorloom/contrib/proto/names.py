"""The names of `tf.contrib.proto`, which are public elsewhere too."""

from __future__ import annotations

from tensorloom.framework.export import export_value
from tensorloom.ops.parsing.proto import decode_proto, encode_proto

export_value(decode_proto, "contrib.proto.decode_proto")
export_value(encode_proto, "contrib.proto.encode_proto")
