"""The way of kernels to the input service; `input_service.client` loads this."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tensorloom.data.service.calls import GONE, call
from tensorloom.data.service.consumer import Consumer
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import input_service
from tensorloom.transport.grpc.channel import GrpcChannel

if TYPE_CHECKING:
    from tensorloom.data.service.calls import Fields
    from tensorloom.framework.runtime.input_service import Reading, Registration

#: How long a dispatcher that is not there yet is waited for.
_WAIT_S: Final = 60.0
_PAUSE_S: Final = 0.2


class Client:
    """Implements `input_service.InputService`."""

    def register(self, address: str, dataset_id: str, found: Registration) -> str:
        """Makes a dataset known; see `input_service.InputService`."""
        splits = found.splits
        fields = {
            "dataset": dataset_id,
            "types": list(found.types),
            "shapes": [None if s is None else list(s) for s in found.shapes],
            **{"elements": splits.elements, "size": splits.size},
            **{"multiple": splits.multiple, "reason": splits.reason},
            **{"cardinality": found.cardinality, "compression": found.compression},
        }
        answer, _ = ask(address, "Register", fields, found.graph)
        name: str = answer["dataset"]
        return name

    def open(self, reading: Reading) -> Consumer:
        """Takes part in a job.

        Raises:
          errors.InvalidArgumentError: it has a cache for trainers, and no name.
        """
        if reading.trainer and not reading.job_name:
            raise invalid_argument(
                "Cross-trainer caching requires named jobs. Got empty `job_name`."
            )
        return Consumer(reading)


def ask(
    address: str, name: str, fields: Fields, content: bytes = b""
) -> tuple[Fields, bytes]:
    """Calls a dispatcher once, and waits until it is there.

    Raises:
      errors.OpError: what it raised; UnavailableError if it does not come.
    """
    channel = GrpcChannel(address)
    until = time.monotonic() + _WAIT_S
    try:
        while True:
            try:
                return call(channel, name, fields, content, _WAIT_S)
            except GONE:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_S)
    finally:
        channel.close()


input_service.provide(Client)
