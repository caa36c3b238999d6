"""Redis as a lock service."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.coordination.store import Lease, Store, asked

# A counter begins at the server's clock, so that tokens grow though it has lost its
# memory.
_CREATE: Final = """
if not redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return false end
if not KEYS[2] then return 0 end
local token = redis.call('incr', KEYS[2])
if token == 1 then
  local now = redis.call('time')
  token = now[1] * 1000000 + now[2]
  redis.call('set', KEYS[2], string.format('%d', token))
end
return token
"""
_RENEW: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])
"""
_REMOVE: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])
"""
_KEEP: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[2], ARGV[2])
return 1
"""


class RedisStore(Store):
    """Keys that expire, and scripts, each of which the server runs as one operation.

    The service is one server, or a primary that a sentinel names. A lock is as safe as
    the server's memory: one that fails over to a replica may forget the newest locks.
    Their tokens still grow, so that what was forgotten is refused.

    Args:
      client: a `redis.Redis`.
      name: where it is.
      namespace: before all keys.
      lease_s: after how long a record goes that is not renewed.
    """

    def __init__(self, client: Any, name: str, namespace: str, lease_s: float) -> None:
        import redis

        self.failures = (redis.RedisError, OSError)
        self.name = name
        self.lease_s = lease_s
        self._lease_ms = round(lease_s * 1000)
        self._client = client
        self._prefix = f"{namespace}:"
        self._create = client.register_script(_CREATE)
        self._renew = client.register_script(_RENEW)
        self._remove = client.register_script(_REMOVE)
        self._keep = client.register_script(_KEEP)

    @asked
    def create(self, key: str, value: bytes, fenced: bool) -> Lease | None:
        """See `Store`."""
        keys = [self._prefix + key]
        if fenced:
            keys.append(self._token_key(key))
        token = self._create(keys=keys, args=(value, self._lease_ms))
        return None if token is None else Lease(key, value, int(token))

    @asked
    def renew(self, lease: Lease) -> bool:
        """See `Store`."""
        keys, args = (self._prefix + lease.key,), (lease.value, self._lease_ms)
        return bool(self._renew(keys=keys, args=args))

    @asked
    def remove(self, lease: Lease) -> bool:
        """See `Store`."""
        keys = (self._prefix + lease.key,)
        return bool(self._remove(keys=keys, args=(lease.value,)))

    @asked
    def read(self, key: str) -> bytes | None:
        """See `Store`."""
        found: bytes | None = self._client.get(self._prefix + key)
        return found

    @asked
    def list(self, folder: str) -> dict[str, bytes]:
        """See `Store`."""
        start = f"{self._prefix}{folder}/"
        pattern = "".join("\\" + c if c in "*?[]\\" else c for c in start) + "*"
        keys = sorted(self._client.scan_iter(match=pattern, count=1000))
        values = self._client.mget(keys) if keys else []
        return {
            key.decode().removeprefix(start): value
            for key, value in zip(keys, values, strict=True)
            if value is not None
        }

    @asked
    def is_newest(self, lease: Lease) -> bool:
        """See `Store`."""
        return int(self._client.get(self._token_key(lease.key)) or 0) == lease.token

    @asked
    def keep(self, key: str, value: bytes, lease: Lease) -> bool:
        """See `Store`."""
        keys = (self._token_key(lease.key), self._kept_key(key))
        return bool(self._keep(keys=keys, args=(lease.token, value)))

    @asked
    def kept(self, key: str) -> bytes | None:
        """See `Store`."""
        found: bytes | None = self._client.get(self._kept_key(key))
        return found

    def close(self) -> None:
        """See `Store`."""
        self._client.close()

    def _token_key(self, key: str) -> str:
        return f"{self._prefix}token of {key}"

    def _kept_key(self, key: str) -> str:
        return f"{self._prefix}kept {key}"
