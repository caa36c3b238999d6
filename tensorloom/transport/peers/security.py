"""Who may speak with a task, and whether others can listen.

    TENSORLOOM_TLS_CERT, TENSORLOOM_TLS_KEY   this process's certificate and key (PEM)
    TENSORLOOM_TLS_CA                         who signed the certificates of the others
    TENSORLOOM_TLS_MUTUAL                     1: callers must have a certificate, too
    TENSORLOOM_TLS_SERVER_NAME                the name in the servers' certificates
    TENSORLOOM_TOKEN                          what every task and client must know

With TLS, gRPC is encrypted, and sockets are used within one machine alone. With a
token, only processes that know it are heard: neither gRPC nor sockets parse anything of
others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import ssl

    import grpc

CERT_VARIABLE: Final = "TENSORLOOM_TLS_CERT"
KEY_VARIABLE: Final = "TENSORLOOM_TLS_KEY"
CA_VARIABLE: Final = "TENSORLOOM_TLS_CA"
MUTUAL_VARIABLE: Final = "TENSORLOOM_TLS_MUTUAL"
SERVER_NAME_VARIABLE: Final = "TENSORLOOM_TLS_SERVER_NAME"
TOKEN_VARIABLE: Final = "TENSORLOOM_TOKEN"


@dataclass(frozen=True, slots=True)
class Tls:
    """The certificates of a process; paths of PEM files, None where there is none."""

    cert: str | None = None
    key: str | None = None
    ca: str | None = None
    #: Whether servers want a certificate of their callers.
    mutual: bool = False
    #: The name in the certificates of servers, where it is not their host's.
    server_name: str | None = None

    def server_credentials(self) -> grpc.ServerCredentials:
        """For a server.

        Raises:
          ValueError: a file is missing, or is not what it is taken for.
        """
        import grpc

        if not self.cert or not self.key:
            raise ValueError(
                "A server with TLS needs a certificate and its key: set "
                f"{CERT_VARIABLE} and {KEY_VARIABLE}"
            )
        if self.mutual and not self.ca:
            raise ValueError(
                f"To check its callers' certificates a server needs {CA_VARIABLE}"
            )
        self._check()
        return grpc.ssl_server_credentials(
            [(_read(self.key), _read(self.cert))],
            _read(self.ca) if self.mutual else None,
            self.mutual,
        )

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """For a channel.

        Raises:
          ValueError: a file cannot be read, or is not what it is taken for.
        """
        import grpc

        self._check()
        return grpc.ssl_channel_credentials(
            _read(self.ca), _read(self.key), _read(self.cert) if self.key else None
        )

    def client_context(self) -> ssl.SSLContext:
        """For a client that is no channel.

        Raises:
          ValueError: as `channel_credentials`.
        """
        import ssl

        context = ssl.create_default_context()
        if self.ca is not None:
            _load(self.ca, lambda: context.load_verify_locations(self.ca))
        if self.cert is not None and self.key is not None:
            what = f"{self.cert} with the key {self.key}"
            _load(what, lambda: context.load_cert_chain(self.cert, self.key))  # type: ignore[arg-type]
        return context

    def _check(self) -> None:
        """Reads the files: gRPC says nothing of what is wrong with one."""
        for path in (self.cert, self.key, self.ca):
            _read(path)
        self.client_context()

    def channel_options(self) -> list[tuple[str, Any]]:
        """gRPC channel options."""
        if self.server_name is None:
            return []
        return [("grpc.ssl_target_name_override", self.server_name)]


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"Cannot read {path!r} for TLS: {error.strerror}") from None


def _load(what: str, load: Callable[[], None]) -> None:
    import ssl

    try:
        load()
    except ssl.SSLError as error:
        reason = error.reason or str(error)
        raise ValueError(f"Cannot use {what} for TLS: {reason}") from None


_chosen: list[tuple[Tls | None, bytes]] = []


def configure(tls: Tls | None = None, token: bytes | str = b"") -> None:
    """Sets what the environment otherwise says, for servers and sessions made later."""
    given = token.encode() if isinstance(token, str) else token
    _chosen[:] = [(tls, given)]


def configure_from_environment() -> None:
    """Undoes `configure`."""
    _chosen.clear()


def tls() -> Tls | None:
    """How this process speaks TLS; None: it speaks plain text."""
    if _chosen:
        return _chosen[0][0]
    environment = os.environ
    found = Tls(
        environment.get(CERT_VARIABLE) or None,
        environment.get(KEY_VARIABLE) or None,
        environment.get(CA_VARIABLE) or None,
        environment.get(MUTUAL_VARIABLE, "") not in ("", "0", "false"),
        environment.get(SERVER_NAME_VARIABLE) or None,
    )
    return found if found.cert or found.ca else None


def token() -> bytes:
    """What every task and client of the cluster knows; empty: nothing is asked."""
    if _chosen:
        return _chosen[0][1]
    return os.environ.get(TOKEN_VARIABLE, "").encode()


def may_connect(endpoint: str) -> bool:
    """Whether tasks may speak at an endpoint: sockets between hosts are plain text."""
    return endpoint.startswith("unix:") or (bool(token()) and tls() is None)
