"""The input service as kernels see it: datasets are registered and read there.

`tensorloom.data.service` has the client; it is loaded when a step first needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework.registry import late_modules

if TYPE_CHECKING:
    from tensorloom.framework.runtime.cancellation import CancellationManager

#: Processing modes: all of the dataset from each worker; splits of its input.
PARALLEL_EPOCHS: Final = "parallel_epochs"
DISTRIBUTED_EPOCH: Final = "distributed_epoch"
#: Static policies: each of a fixed list of workers makes its share.
FILE: Final = "file"
DATA: Final = "data"
FILE_OR_DATA: Final = "file_or_data"
HINT: Final = "hint"
STATIC: Final = frozenset([FILE, DATA, FILE_OR_DATA, HINT])
#: The number of shards that ShardingPolicy.HINT replaces.
SHARD_HINT: Final = -1
#: A number of splits that has no end.
ENDLESS: Final = -1
#: A dataset that cannot be divided into splits.
INDIVISIBLE: Final = -2


@dataclass(frozen=True, slots=True)
class Splits:
    """How the input of a pipeline is divided; see `kernels/host/data/splits.py`."""

    #: Elements of the part that is divided; ENDLESS, or INDIVISIBLE.
    elements: int
    #: How many of them a split has, where nobody asks for another number.
    size: int = 1
    #: Splits have a multiple of so many, or batches would be cut.
    multiple: int = 1
    #: Why it is INDIVISIBLE.
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Registration:
    """A dataset as the dispatcher keeps it."""

    graph: bytes  # a GraphDef whose _Retval is the dataset
    types: tuple[int, ...]  # of an element's tensors, as TensorFlow numbers them
    shapes: tuple[tuple[int | None, ...] | None, ...]
    splits: Splits
    cardinality: int  # number of elements; -1: there is no end; -2: it is not known
    compression: str  # of elements that travel: "SNAPPY", or "" for none


@dataclass(frozen=True, slots=True)
class Reading:
    """What a consumer asks for."""

    address: str
    dataset_id: str
    mode: str
    delivery: str
    split_size: int  # 0: as the dataset's `Splits` say
    job_name: str  # empty: of this reader alone
    iteration: int
    max_outstanding: int  # elements that are fetched ahead; 0: as the service likes
    trainer: str = ""  # whose place in the job's cache it reads on from; "": no cache


class Reader(Protocol):
    """Gives the elements of a job one after the other."""

    def next(self, cancellation: CancellationManager) -> tuple[Any, ...] | None:
        """The next element; None at the end.

        Raises:
          errors.OpError: an element failed, the step was cancelled, or the service
            cannot go on.
        """

    def close(self) -> None:
        """Leaves the job. Elements that were fetched and not given go to others."""


class InputService(Protocol):
    """The way to dispatchers."""

    def register(self, address: str, dataset_id: str, found: Registration) -> str:
        """Makes a dataset known; returns its id, which is made up where it is empty."""

    def open(self, reading: Reading) -> Reader:
        """Takes part in a job."""


_clients: list[Callable[[], InputService]] = []


def provide(make: Callable[[], InputService]) -> None:
    """Says what makes the client."""
    _clients[:] = [make]


def client() -> InputService:
    """The client of the service."""
    late_modules.load_kind("input service")
    return _clients[0]()


class SnappyCodec(Protocol):
    """Makes Snappy's blocks, and reads them: kernels have it, as compiled loops."""

    def compress(self, data: bytes) -> bytes:
        """A block."""

    def decompress(self, data: bytes) -> bytes:
        """The contents of a block.

        Raises:
          errors.InvalidArgumentError: it is damaged.
        """


_snappy: list[SnappyCodec] = []


def provide_snappy(codec: SnappyCodec) -> None:
    """Says what `snappy` gives."""
    _snappy[:] = [codec]


def snappy() -> SnappyCodec:
    """The codec, which is loaded when it is first asked for."""
    late_modules.load_kind("snappy")
    return _snappy[0]
