"""ZooKeeper as a lock service."""

from __future__ import annotations

from typing import Any

from tensorloom.coordination.store import Lease, Store, asked


class ZooKeeperStore(Store):
    """Ephemeral nodes: records live as long as the session of who made them.

    Tokens are the versions of a node beside each record, which the transaction that
    makes the record also writes.

    Args:
      client: a `kazoo.client.KazooClient` that is connected.
      name: where it is.
      namespace: the node above all.
      lease_s: the timeout that the client asks for its session. The server may grant
        a longer one: what this process then takes for lost is not yet another's.
    """

    def __init__(self, client: Any, name: str, namespace: str, lease_s: float) -> None:
        from kazoo import exceptions, security
        from kazoo.handlers.threading import KazooTimeoutError
        from kazoo.protocol.connection import ConnectionDropped

        self.failures = (
            exceptions.KazooException,
            KazooTimeoutError,
            ConnectionDropped,
        )
        self.name = name
        self.lease_s = lease_s
        self._client = client
        self._root = f"/{namespace}"
        self._folders: set[str] = set()
        self._exists = exceptions.NodeExistsError
        self._missing = exceptions.NoNodeError
        self._rolled_back = (
            exceptions.RolledBackError,
            exceptions.RuntimeInconsistency,
        )
        self._acl = client.default_acl or security.OPEN_ACL_UNSAFE

    @asked
    def create(self, key: str, value: bytes, fenced: bool) -> Lease | None:
        """See `Store`."""
        record, counter = self._path("records", key), self._path("tokens", key)
        self._ensure(record.rpartition("/")[0])
        if fenced:
            self._ensure(counter)
        change = self._client.transaction()
        change.create(record, value, ephemeral=True)
        if fenced:
            change.set_data(counter, b"")
        results = self._wait(change.commit_async())
        if isinstance(results[0], self._exists):
            return None
        self._raise_first(results)
        session = self._client.client_id[0]
        return Lease(key, value, results[1].version if fenced else 0, session)

    @asked
    def renew(self, lease: Lease) -> bool:
        """See `Store`. The client's own heartbeat puts the end off; this looks."""
        found = self._wait(self._client.exists_async(self._path("records", lease.key)))
        return found is not None and found.ephemeralOwner == lease.handle

    @asked
    def remove(self, lease: Lease) -> bool:
        """See `Store`."""
        path = self._path("records", lease.key)
        # No other session removes a node of a living one, and a dead one's is not ours.
        if not self.renew(lease):
            return False
        try:
            self._wait(self._client.delete_async(path))
        except self._missing:
            return False
        return True

    @asked
    def read(self, key: str) -> bytes | None:
        """See `Store`."""
        return self._get(self._path("records", key))

    @asked
    def list(self, folder: str) -> dict[str, bytes]:
        """See `Store`."""
        path = self._path("records", folder)
        try:
            names = sorted(self._wait(self._client.get_children_async(path)))
        except self._missing:
            return {}
        found = {name: self._get(f"{path}/{name}") for name in names}
        return {name: value for name, value in found.items() if value is not None}

    @asked
    def is_newest(self, lease: Lease) -> bool:
        """See `Store`."""
        # The server that answers may be behind the others.
        counter = self._path("tokens", lease.key)
        self._wait(self._client.sync_async(counter))
        found = self._wait(self._client.exists_async(counter))
        return found is not None and found.version == lease.token

    @asked
    def keep(self, key: str, value: bytes, lease: Lease) -> bool:
        """See `Store`."""
        path = self._path("kept", key)
        self._ensure(path)
        change = self._client.transaction()
        change.check(self._path("tokens", lease.key), lease.token)
        change.set_data(path, value)
        results = self._wait(change.commit_async())
        if results[0] is not True:
            return False
        self._raise_first(results)
        return True

    @asked
    def kept(self, key: str) -> bytes | None:
        """See `Store`."""
        return self._get(self._path("kept", key)) or None

    def close(self) -> None:
        """See `Store`. The end of the session ends its records at once."""
        self._client.stop()
        self._client.close()

    def _path(self, kind: str, key: str) -> str:
        return f"{self._root}/{kind}/{key}"

    def _wait(self, answer: Any) -> Any:
        """An answer; the client itself would wait as long as the server is away."""
        return answer.get(timeout=max(1.0, self.lease_s))

    def _ensure(self, path: str) -> None:
        if path not in self._folders:
            self._wait(self._client.ensure_path_async(path))
            self._folders.add(path)

    def _get(self, path: str) -> bytes | None:
        try:
            value: bytes = self._wait(self._client.get_async(path))[0]
        except self._missing:
            return None
        return value

    def _raise_first(self, results: Any) -> None:
        for result in results:
            if isinstance(result, Exception) and not isinstance(
                result, self._rolled_back
            ):
                raise result
