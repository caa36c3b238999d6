"""etcd as a lock service, through its gateway for JSON."""

from __future__ import annotations

import base64
import math
from typing import Any

from tensorloom.coordination.store import Lease, Store, asked


class EtcdStore(Store):
    """Keys with leases; tokens are the revisions of the whole store.

    Args:
      client: an `etcd3gw.Etcd3Client`.
      name: where it is.
      namespace: before all keys.
      lease_s: after how long a record goes that is not renewed: whole seconds, and
        at least the two or so that the server allows.
    """

    def __init__(self, client: Any, name: str, namespace: str, lease_s: float) -> None:
        import requests
        from etcd3gw import exceptions

        self.failures = (exceptions.Etcd3Exception, requests.RequestException)
        self.name = name
        self.lease_s = lease_s
        self._client = client
        self._prefix = f"/{namespace}/"

    @asked
    def create(self, key: str, value: bytes, fenced: bool) -> Lease | None:
        """See `Store`."""
        record = _text(self._record_key(key))
        # A lease is made first: nobody else can use the key meanwhile, and one that
        # finds the key taken is given back.
        handle = self._client.lease(math.ceil(self.lease_s))
        writes = [_put(record, value, handle.id)]
        if fenced:
            # Its revision of modification is that of the record's creation.
            writes.append(_put(_text(self._token_key(key)), b""))
        answer = self._client.transaction(
            {
                "compare": [
                    {
                        "key": record,
                        "target": "CREATE",
                        "result": "EQUAL",
                        "create_revision": 0,
                    }
                ],
                "success": writes,
                "failure": [],
            }
        )
        if not answer.get("succeeded"):
            handle.revoke()
            return None
        token = int(answer["header"]["revision"]) if fenced else 0
        return Lease(key, value, token, handle)

    @asked
    def renew(self, lease: Lease) -> bool:
        """See `Store`."""
        return bool(lease.handle.refresh() > 0)

    @asked
    def remove(self, lease: Lease) -> bool:
        """See `Store`."""
        answer = self._client.transaction(
            {
                "compare": [self._has_value(lease)],
                "success": [
                    {
                        "request_delete_range": {
                            "key": _text(self._record_key(lease.key))
                        }
                    }
                ],
                "failure": [],
            }
        )
        if not answer.get("succeeded"):
            return False
        lease.handle.revoke()
        return True

    @asked
    def read(self, key: str) -> bytes | None:
        """See `Store`."""
        return self._get(self._record_key(key))

    @asked
    def list(self, folder: str) -> dict[str, bytes]:
        """See `Store`."""
        start = self._record_key(folder) + "/"
        return {
            found["key"].decode().removeprefix(start): value
            for value, found in self._client.get_prefix(start, sort_order="ascend")
        }

    @asked
    def is_newest(self, lease: Lease) -> bool:
        """See `Store`."""
        answer = self._client.transaction(
            {"compare": [self._has_token(lease)], "success": [], "failure": []}
        )
        return bool(answer.get("succeeded"))

    @asked
    def keep(self, key: str, value: bytes, lease: Lease) -> bool:
        """See `Store`."""
        answer = self._client.transaction(
            {
                "compare": [self._has_token(lease)],
                "success": [_put(_text(self._kept_key(key)), value)],
                "failure": [],
            }
        )
        return bool(answer.get("succeeded"))

    @asked
    def kept(self, key: str) -> bytes | None:
        """See `Store`."""
        return self._get(self._kept_key(key))

    def close(self) -> None:
        """See `Store`."""
        self._client.session.close()

    def _get(self, key: str) -> bytes | None:
        found: list[bytes] = self._client.get(key)
        return found[0] if found else None

    def _record_key(self, key: str) -> str:
        return f"{self._prefix}records/{key}"

    def _token_key(self, key: str) -> str:
        return f"{self._prefix}tokens/{key}"

    def _kept_key(self, key: str) -> str:
        return f"{self._prefix}kept/{key}"

    def _has_value(self, lease: Lease) -> dict[str, Any]:
        return {
            "key": _text(self._record_key(lease.key)),
            "target": "VALUE",
            "result": "EQUAL",
            "value": _text(lease.value),
        }

    def _has_token(self, lease: Lease) -> dict[str, Any]:
        return {
            "key": _text(self._token_key(lease.key)),
            "target": "MOD",
            "result": "EQUAL",
            "mod_revision": lease.token,
        }


def _text(content: str | bytes) -> str:
    """What the gateway takes for bytes."""
    raw = content.encode() if isinstance(content, str) else content
    return base64.b64encode(raw).decode()


def _put(key: str, value: bytes, lease: int | None = None) -> dict[str, Any]:
    request: dict[str, Any] = {"key": key, "value": _text(value)}
    if lease is not None:
        request["lease"] = lease
    return {"request_put": request}
