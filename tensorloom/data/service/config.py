"""What servers of the input service are made of, with TensorFlow's fields."""

from __future__ import annotations

import enum
from typing import Any, Final, NamedTuple

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.runtime import input_service
from tensorloom.framework.runtime.input_service import (
    DISTRIBUTED_EPOCH,
    PARALLEL_EPOCHS,
)

EXACTLY_ONCE: Final = "exactly_once"
AT_LEAST_ONCE: Final = "at_least_once"


@export("data.experimental.service.ShardingPolicy")
class ShardingPolicy(enum.IntEnum):
    """How the input is divided among workers.

    OFF: each makes the whole dataset. DYNAMIC: they share it, as they come and go. The
    others are of a fixed list of workers (`DispatcherConfig.worker_addresses`), each of
    which makes its share: of the files, of the elements, of the files where there are
    some and else of the elements, or what `shard(SHARD_HINT, ...)` marks.
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


_MODES: Final = {
    ShardingPolicy.OFF: PARALLEL_EPOCHS,
    ShardingPolicy.DYNAMIC: DISTRIBUTED_EPOCH,
    ShardingPolicy.FILE: input_service.FILE,
    ShardingPolicy.DATA: input_service.DATA,
    ShardingPolicy.FILE_OR_DATA: input_service.FILE_OR_DATA,
    ShardingPolicy.HINT: input_service.HINT,
}


def mode_of(processing_mode: Any) -> str:
    """The name of a processing mode.

    Raises:
      ValueError: it is none.
    """
    if isinstance(processing_mode, ShardingPolicy):
        return _MODES[processing_mode]
    if processing_mode in (PARALLEL_EPOCHS, DISTRIBUTED_EPOCH):
        return str(processing_mode)
    raise ValueError(
        "tf.data service processing mode should be a "
        '`tf.data.experimental.service.ShardingPolicy`, `"parallel_epochs"`, or '
        f'`"distributed_epoch"`. Got {processing_mode!r}.'
    )


@export("data.experimental.service.DispatcherConfig")
class DispatcherConfig(NamedTuple):
    """What a `DispatchServer` is made of.

    Fields:
      port: where it listens; 0 takes a free one.
      protocol: "grpc", also if None.
      work_dir: a directory of a local disk, for the journal.
      fault_tolerant_mode: whether it keeps a journal, from which it goes on when it is
        started again.
      worker_addresses: the fixed list of workers, which the static policies of
        `ShardingPolicy` want: "host:port", or "host" (or "host:%port%") for any port.
        No other workers are let in.
      job_gc_check_interval_ms: how often jobs without consumers are looked for.
      job_gc_timeout_ms: how long such a job is kept: 5 minutes by default; -1:
        for ever.
      worker_timeout_ms: how long a worker, or a consumer, may be silent: 60 seconds by
        default.
      worker_max_concurrent_snapshots: 0; workers make no snapshots.
    """

    port: int = 0
    protocol: str | None = None
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: Any = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int = 0


@export("data.experimental.service.WorkerConfig")
class WorkerConfig(NamedTuple):
    """What a `WorkerServer` is made of.

    Fields:
      dispatcher_address: `host:port`.
      worker_address: where consumers reach it; "localhost:%port%" by default. It
        listens on loopback if that is there, else on all interfaces.
      port: where it listens; 0 takes a free one.
      protocol: "grpc", also if None.
      heartbeat_interval_ms: how often it tells the dispatcher that it is there: each
        second by default.
      dispatcher_timeout_ms: how long `start` waits for the dispatcher: an hour by
        default.
      data_transfer_protocol: "grpc", also if None.
      data_transfer_address: None; elements go where everything goes.
    """

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = None
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None


def check_protocol(protocol: str | None) -> None:
    """Raises NotFoundError for a protocol that is not spoken here."""
    if protocol not in (None, "grpc"):
        raise errors.NotFoundError(
            None,
            None,
            f"No input service speaks {protocol!r}: the protocol is 'grpc'",
        )
