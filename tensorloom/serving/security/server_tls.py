"""TLS of a model server: TensorFlow Serving's file, or this project's variables."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.serving.manager.model_config import parse_text_file
from tensorloom.transport.peers import security

if TYPE_CHECKING:
    import grpc


@dataclass(frozen=True, slots=True)
class ServerTls:
    """A server's certificate and key, and who signs those of its callers: PEM."""

    cert: bytes
    key: bytes
    ca: bytes = b""
    #: Whether callers need a certificate.
    mutual: bool = False

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """For gRPC."""
        import grpc

        return grpc.ssl_server_credentials(
            [(self.key, self.cert)], self.ca or None, self.mutual
        )

    def context(self) -> ssl.SSLContext:
        """For HTTP.

        Raises:
          errors.InvalidArgumentError: certificate or key are none.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            # The library reads them from a file alone.
            with tempfile.NamedTemporaryFile(delete=False) as file:
                os.chmod(file.name, 0o600)
                file.write(self.key + b"\n" + self.cert)
            try:
                context.load_cert_chain(file.name)
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(file.name)
            if self.ca:
                context.load_verify_locations(cadata=self.ca.decode())
        except (ssl.SSLError, UnicodeDecodeError) as error:
            reason = getattr(error, "reason", None) or str(error)
            raise errors.InvalidArgumentError(
                None, None, f"Cannot use the certificate or key for TLS: {reason}"
            ) from None
        if self.mutual:
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def find_tls(ssl_config_file: str = "") -> ServerTls | None:
    """How the server speaks TLS; None: it does not.

    Args:
      ssl_config_file: an `SSLConfig` in text format; without one the variables
        TENSORLOOM_TLS_... count, as they do for tasks.

    Raises:
      errors.InvalidArgumentError: the file is none, or something is missing.
      OSError: a file cannot be read.
    """
    if ssl_config_file:
        from tensorloom.protos.serving.ssl_config_pb2 import SSLConfig

        config: Any = parse_text_file(ssl_config_file, SSLConfig())
        found = ServerTls(
            config.server_cert.encode(),
            config.server_key.encode(),
            config.custom_ca.encode(),
            config.client_verify,
        )
    else:
        tls = security.tls()
        if tls is None or not tls.cert or not tls.key:
            return None
        found = ServerTls(
            Path(tls.cert).read_bytes(),
            Path(tls.key).read_bytes(),
            Path(tls.ca).read_bytes() if tls.ca else b"",
            tls.mutual,
        )
    if not found.cert or not found.key:
        raise errors.InvalidArgumentError(
            None, None, f"{ssl_config_file} has no server_cert or no server_key"
        )
    if found.mutual and not found.ca:
        raise errors.InvalidArgumentError(
            None, None, "To check its callers' certificates a server needs a custom_ca"
        )
    found.context()  # gRPC says nothing of what is wrong with one
    return found
