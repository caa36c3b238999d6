"""Locks with leases, the members of a job, and barriers, on a service that keeps them.

coordinator = open_coordinator("redis://host:6379?namespace=my-job")
with coordinator.lock("chief") as lock:
    lock.check()        # raises AbortedError once another process may have it
"""

from tensorloom.coordination.coordinator import Coordinator, open_coordinator

__all__ = ["Coordinator", "open_coordinator"]
