"""Which process of a group this one is: read from what its launcher has set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tensorloom.framework.errors import invalid_argument

#: What `tensorloom hvdrun` sets: the store that it keeps, as host:port.
STORE: Final = "TENSORLOOM_GROUP_STORE"
#: What tells this machine's name or address to the others; loopback without it, where
#: the store is on loopback.
OWN_HOST: Final = "TENSORLOOM_GROUP_HOST"
# (rank, size, rank and number of processes on this machine), by launcher: our own and
# horovodrun, Open MPI, MPICH and Intel MPI, Slurm, torchrun.
_LAUNCHERS: Final = (
    ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
    (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
)


@dataclass(frozen=True)
class Place:
    """A process's place in its group, and where the processes meet.

    Attributes:
      hosts_store: whether process 0 keeps the store that they meet at; otherwise the
        launcher does.
      own_host: this machine, as the others reach it.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    host: str = "127.0.0.1"
    port: int = 0
    hosts_store: bool = False
    own_host: str = "127.0.0.1"


def place_of(environment: Mapping[str, str]) -> Place:
    """The place that a launcher has set; alone, if none has.

    Raises:
      errors.InvalidArgumentError: variables are missing, or are no numbers.
    """
    for names in _LAUNCHERS:
        if names[0] in environment and names[1] in environment:
            break
    else:
        return Place()
    rank, size = (_number(environment, name) for name in names[:2])
    if not 0 <= rank < size:
        raise invalid_argument(f"{names[0]} is {rank}, of {size} processes")
    if size == 1:
        return Place()
    local_rank = _number(environment, names[2]) if names[2] in environment else rank
    local_size = _number(environment, names[3]) if names[3] in environment else size
    if STORE in environment:
        host, _, port = environment[STORE].rpartition(":")
        keeps = False
    elif "MASTER_ADDR" in environment and "MASTER_PORT" in environment:
        host, port = environment["MASTER_ADDR"], environment["MASTER_PORT"]
        keeps = True
    else:
        raise invalid_argument(
            f"{names[1]} is {size}, but nothing says where the processes meet. Start "
            "them with tensorloom hvdrun, or set MASTER_ADDR and MASTER_PORT to an "
            "address of process 0"
        )
    if not host or not port.isdigit():
        raise invalid_argument(f"The processes cannot meet at '{host}:{port}'")
    return Place(
        rank,
        size,
        local_rank,
        local_size,
        host,
        int(port),
        keeps,
        environment.get(OWN_HOST) or _own_host(host),
    )


def _own_host(meeting_place: str) -> str:
    import socket

    is_local = meeting_place in ("localhost", "::1") or meeting_place.startswith("127.")
    return "127.0.0.1" if is_local else socket.gethostname()


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name].partition("(")[0]  # Slurm: 2(x3)
    if not text.isdigit():
        raise invalid_argument(f"{name} must be a number, is {environment[name]!r}")
    return int(text)
