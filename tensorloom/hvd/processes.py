"""The group of processes: joining it, leaving it, and a process's place in it."""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.collective import process_group

if TYPE_CHECKING:
    from tensorloom.framework.collective.process_group import ProcessGroup


def init(comm: Sequence[int] | None = None) -> None:
    """Joins the group that the launcher has set up; alone without a launcher.

    Waits until all processes have joined. A second call does nothing.

    Args:
      comm: None. Groups of some of the processes are MPI's, which is not used here.

    Raises:
      errors.InvalidArgumentError: the launcher's variables do not fit.
      errors.DeadlineExceededError: the other processes did not come.
    """
    from tensorloom.transport.collectives.group import join
    from tensorloom.transport.collectives.place import place_of

    if comm:
        raise ValueError(
            f"hvd.init takes no communicator here, it is given {comm!r}: all processes "
            "that the launcher starts are one group"
        )
    if process_group.is_current():
        return
    process_group.set_current(join(place_of(os.environ)))
    atexit.register(shutdown)


def shutdown() -> None:
    """Leaves the group; what the others wait for fails. Without a group, nothing."""
    if process_group.is_current():
        group = process_group.current()
        process_group.set_current(None)
        group.close()
    atexit.unregister(shutdown)


def is_initialized() -> bool:
    """Whether the process is in a group."""
    return process_group.is_current()


def _group() -> ProcessGroup:
    if not process_group.is_current():
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return process_group.current()


def rank() -> int:
    """This process's number, from 0 on.

    Raises:
      ValueError: `init` was not called; so do the next ones.
    """
    return _group().rank


def size() -> int:
    """How many processes there are."""
    return _group().size


def local_rank() -> int:
    """This process's number among those on its machine."""
    return _group().local_rank


def local_size() -> int:
    """How many of the processes are on this machine."""
    return _group().local_size


def is_homogeneous() -> bool:
    """Whether each machine has as many processes as this one, as far as is known."""
    return size() % local_size() == 0


def mpi_threads_supported() -> bool:
    """Whether MPI may be called from several threads: MPI is not used."""
    _group()
    return False


def mpi_enabled() -> bool:
    """Whether the processes meet by MPI: they do not."""
    return False


def mpi_built() -> bool:
    """Whether MPI could be used."""
    return False


def gloo_enabled() -> bool:
    """Whether the processes meet by Gloo."""
    return True


def gloo_built() -> bool:
    """Whether Gloo could be used."""
    return True


def nccl_built() -> int:
    """The version of NCCL that values travel by; 0 for none."""
    return 0


def ddl_built() -> bool:
    """Whether IBM's DDL could be used."""
    return False


def ccl_built() -> bool:
    """Whether Intel's oneCCL could be used."""
    return False
