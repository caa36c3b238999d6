"""The store at which the processes of a group find each other."""

from __future__ import annotations

from typing import Any, Final

from torch import distributed as torch_distributed

#: Its types say little of it.
distributed: Final[Any] = torch_distributed


class LocalStore:
    """A store on loopback that lives as long as this object."""

    def __init__(self) -> None:
        self._store = distributed.TCPStore(
            "127.0.0.1", 0, is_master=True, wait_for_workers=False
        )

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self._store.port}"
