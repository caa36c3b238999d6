"""The methods of TensorFlow's two services, with their messages.

Paths are `/tensorflow.MasterService/METHOD` and `/tensorflow.WorkerService/METHOD`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import ModuleType

_MASTER_METHODS: Final = (
    "CreateSession",
    "ExtendSession",
    "PartialRunSetup",
    "RunStep",
    "CloseSession",
    "ListDevices",
    "Reset",
    "MakeCallable",
    "RunCallable",
    "ReleaseCallable",
)

_WORKER_METHODS: Final = (
    "GetStatus",
    "CreateWorkerSession",
    "DeleteWorkerSession",
    "RegisterGraph",
    "DeregisterGraph",
    "RunGraph",
    "CleanupGraph",
    "CleanupAll",
    "RecvTensor",
    "Logging",
    "Tracing",
    "RecvBuf",
    "GetStepSequence",
    "CompleteGroup",
    "CompleteInstance",
    "MarkRecvFinished",
)


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its service, its name and the classes of its messages."""

    service: str  # "tensorflow.MasterService"
    name: str  # "RunStep"
    request: Any
    response: Any

    @property
    def path(self) -> str:
        """How gRPC addresses it."""
        return f"/{self.service}/{self.name}"


@cache
def master_methods() -> Mapping[str, Method]:
    """The methods of MasterService by name."""
    from tensorloom.protos import master_pb2

    return _methods("tensorflow.MasterService", _MASTER_METHODS, master_pb2)


@cache
def worker_methods() -> Mapping[str, Method]:
    """The methods of WorkerService by name."""
    from tensorloom.protos import worker_pb2

    return _methods("tensorflow.WorkerService", _WORKER_METHODS, worker_pb2)


def _methods(
    service: str, names: tuple[str, ...], messages: ModuleType
) -> dict[str, Method]:
    return {
        name: Method(
            service,
            name,
            getattr(messages, f"{name}Request"),
            getattr(messages, f"{name}Response"),
        )
        for name in names
    }
