"""`tf.contrib.kafka`."""

from __future__ import annotations

from typing import Any

from tensorloom.data import specs
from tensorloom.data.dataset import Dataset
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor


@export("contrib.kafka.KafkaDataset")
class KafkaDataset(Dataset):
    """The messages of Kafka topics, string scalars. Needs `tensorloom[kafka]`.

    Args:
      topics: a string tensor of subscriptions `topic[:partition[:offset[:last]]]`,
        which are read one after the other. Partition and offset are 0 by default.
        Messages up to the offset `last` are read, and it among them; without it there
        is no end.
      servers: brokers, as `host:port`, with commas between them.
      group: the id of the consumer group; nothing is committed.
      eof: whether a partition ends when all of its messages are read. Otherwise further
        ones are waited for.
      timeout: in milliseconds, that the client waits at a time.

    Its elements raise:
      errors.InvalidArgumentError: a subscription is malformed.
      errors.InternalError: the brokers cannot be reached, or there is no such topic.
    """

    def __init__(
        self,
        topics: Any,
        servers: Any = "localhost",
        group: Any = "",
        eof: Any = False,
        timeout: Any = 1000,
    ) -> None:
        variant = apply_op(
            "KafkaDataset",
            topics=convert_to_tensor(topics, dtypes.string, name="topics"),
            servers=convert_to_tensor(servers, dtypes.string, name="servers"),
            group=convert_to_tensor(group, dtypes.string, name="group"),
            eof=convert_to_tensor(eof, dtypes.bool, name="eof"),
            timeout=convert_to_tensor(timeout, dtypes.int64, name="timeout"),
        )
        super().__init__(variant, specs.TensorSpec([], dtypes.string))
