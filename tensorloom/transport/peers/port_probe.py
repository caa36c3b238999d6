"""Identifies what listens at a port at which no task answers.

A few bytes tell: HTTP/2, which gRPC speaks, begins with a frame of settings from either
side, and TLS says itself why a handshake failed.
"""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.transport.peers.security import Tls

_WAIT_S: Final = 1.0
_SETTINGS: Final = 4
# What a client of HTTP/2 sends first, with default settings.
_PREFACE: Final = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, _SETTINGS]) + b"\0" * 5
)


def what_listens(host: str, port: int, tls: Tls | None, timeout_s: float) -> str:
    """Why who listens there is no task that this process can speak to.

    Args:
      host, port: where.
      tls: how this process speaks TLS; None: it does not.
      timeout_s: for the connection to be made.

    Returns:
      The reason; "" where gRPC is spoken.

    Raises:
      OSError: nobody listens.
      ValueError: a file for TLS cannot be read.
    """
    with socket.create_connection((host, port), timeout_s) as connection:
        connection.settimeout(_WAIT_S)
        if tls is not None:
            return _behind_tls(connection, tls.server_name or host, tls)
        answer = _greet(connection)
    if answer == "nothing":
        return "what listens there says nothing"
    if not answer:
        return ""
    if _speaks_tls(host, port, timeout_s):
        return (
            "what listens there speaks TLS, and this process does not: set "
            "TENSORLOOM_TLS_CA"
        )
    return "what listens there does not speak gRPC"


def _greet(connection: socket.socket) -> str:
    """Says hello in HTTP/2: "" if that is answered, "nothing", or "other"."""
    answer = b""
    try:
        connection.sendall(_PREFACE)
        while len(answer) < 9:
            more = connection.recv(9 - len(answer))
            if not more:
                return "other"
            answer += more
    except TimeoutError:
        return "other" if answer else "nothing"
    except OSError:  # it has hung up
        return "other"
    is_settings = answer[3] == _SETTINGS and answer[5:] == bytes(4)
    return "" if is_settings else "other"


def _speaks_tls(host: str, port: int, timeout_s: float) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        with socket.create_connection((host, port), timeout_s) as connection:
            connection.settimeout(_WAIT_S)
            context.wrap_socket(connection).close()
    except OSError:
        return False
    return True


def _behind_tls(connection: socket.socket, name: str, tls: Tls) -> str:
    context = tls.client_context()
    context.set_alpn_protocols(["h2"])
    try:
        with context.wrap_socket(connection, server_hostname=name) as encrypted:
            answer = _greet(encrypted)
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is not accepted here: {error.verify_message}"
    except TimeoutError:
        return "what listens there says nothing"
    except OSError:
        return "what listens there does not speak TLS, and this process does"
    if not answer:
        return ""
    if tls.cert is None:
        return (
            "it wants a certificate of its callers: set TENSORLOOM_TLS_CERT and "
            "TENSORLOOM_TLS_KEY"
        )
    return "it does not accept this process's certificate"
