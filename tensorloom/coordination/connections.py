"""Which lock service a URL means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from tensorloom.coordination.store import Store

DEFAULT_NAMESPACE: Final = "tensorloom"


def open_store(url: str, lease_s: float, member: str) -> Store:
    """Connects to a lock service.

    Args:
      url: `file:///dir`, `redis://host:port`, `etcd3+http://host:port` (or `https`),
        `zookeeper://host:port`, with the options that tooz has for them, and with
        `namespace`, which keeps jobs apart.
      lease_s: after how long a record goes that is not renewed.
      member: who connects.

    Raises:
      ValueError: it is no such URL.
      ImportError: a library is missing; it says which extra has it.
      errors.UnavailableError: the service does not answer.
    """
    parts = urlsplit(url)
    makers: dict[str, Callable[[], Store]] = {
        "file": lambda: _file(parts, lease_s),
        "redis": lambda: _redis(url, parts, lease_s, member),
        "rediss": lambda: _redis(url, parts, lease_s, member),
        "etcd3+http": lambda: _etcd(url, parts, lease_s, member),
        "etcd3+https": lambda: _etcd(url, parts, lease_s, member),
        "zookeeper": lambda: _zookeeper(url, parts, lease_s, member),
        "kazoo": lambda: _zookeeper(url, parts, lease_s, member),
    }
    maker = makers.get(parts.scheme)
    if maker is None:
        known = ", ".join(f"{scheme}://" for scheme in makers)
        raise ValueError(f"No lock service at {url!r}; the URLs are {known}")
    return maker()


def _file(parts: SplitResult, lease_s: float) -> Store:
    from tensorloom.coordination.file_store import FileStore

    if parts.netloc not in ("", "localhost") or not parts.path.strip("/"):
        raise ValueError(
            f"The URL of a directory is file:///dir, not {parts.geturl()!r}"
        )
    namespace = _option(parts, "namespace")
    directory = unquote(parts.path)
    return FileStore(f"{directory}/{namespace}" if namespace else directory, lease_s)


def _redis(url: str, parts: SplitResult, lease_s: float, member: str) -> Store:
    from tensorloom.coordination.redis_store import RedisStore

    # Whoever waits longer for an answer than a lease lasts has lost it.
    if parts.scheme == "rediss":
        url = url.replace("rediss", "redis", 1)
        options = {"timeout": lease_s, "ssl": True}
    else:
        options = {"timeout": lease_s}
    driver = _driver(url, member, options)
    client = driver._make_client(parts, driver._options, max(1, round(lease_s)))
    store = RedisStore(client, _shown(parts), _namespace(parts), lease_s)
    store.read("records/none")  # whether it answers
    return store


def _etcd(url: str, parts: SplitResult, lease_s: float, member: str) -> Store:
    from tensorloom.coordination.etcd_store import EtcdStore

    client = _driver(url, member, {"timeout": max(1, round(lease_s))}).client
    store = EtcdStore(client, _shown(parts), _namespace(parts), lease_s)
    store.read("records/none")
    return store


def _zookeeper(url: str, parts: SplitResult, lease_s: float, member: str) -> Store:
    from tensorloom.coordination.zookeeper_store import ZooKeeperStore
    from tensorloom.framework import errors

    client = _driver(url, member, {"timeout": lease_s})._coord
    from kazoo.handlers.threading import KazooTimeoutError

    try:
        client.start(timeout=max(5.0, lease_s))
    except KazooTimeoutError as error:
        client.stop()
        client.close()
        raise errors.UnavailableError(
            None, None, f"The lock service {_shown(parts)} cannot be asked: {error}"
        ) from error
    return ZooKeeperStore(client, _shown(parts), _namespace(parts), lease_s)


def _driver(url: str, member: str, options: dict[str, Any]) -> Any:
    """tooz's driver: it knows the options of a URL and makes the service's client.

    Its own locks and groups are not used: no fencing token comes with them, and what
    was lost with a lease is not found out.
    """
    try:
        from tooz import coordination

        return coordination.get_coordinator(url, member.encode(), **options)
    except ImportError as error:
        raise ImportError(
            f"{urlsplit(url).scheme}:// needs packages that are not installed "
            f"({error}): pip install 'tensorloom[locks]'"
        ) from error


def _option(parts: SplitResult, name: str) -> str:
    return parse_qs(parts.query).get(name, [""])[-1]


def _namespace(parts: SplitResult) -> str:
    return _option(parts, "namespace") or DEFAULT_NAMESPACE


def _shown(parts: SplitResult) -> str:
    """The address without what may be secret."""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
