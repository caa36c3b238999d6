"""API keys: who does not know one is not heard.

A caller sends one as `Authorization: Bearer KEY` or as `X-Api-Key: KEY`, in gRPC's
metadata or as an HTTP header.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tensorloom.framework import errors

#: One key, or several with commas between them.
VARIABLE: Final = "TENSORLOOM_SERVING_API_KEYS"
_BEARER: Final = "bearer "


class ApiKeys:
    """The keys of a server; their digests alone are kept."""

    def __init__(self, keys: list[str]) -> None:
        """Takes the keys; none: every caller is heard."""
        self._digests = [_digest(key) for key in keys]

    @classmethod
    def find(cls, path: str = "") -> ApiKeys:
        """The keys in a file, one on a line, or those of the environment.

        Raises:
          ValueError: the file has none.
          OSError: it cannot be read.
        """
        if path:
            lines = Path(path).read_text().splitlines()
            keys = [line.strip() for line in lines if line.strip()]
            if not keys:
                raise ValueError(f"{path} has no API key")
        else:
            text = os.environ.get(VARIABLE, "")
            keys = [key.strip() for key in text.split(",") if key.strip()]
        return cls(keys)

    @property
    def are_asked_for(self) -> bool:
        """Whether callers need one."""
        return bool(self._digests)

    def check(self, headers: Mapping[str, str]) -> None:
        """Checks a caller's headers, with names in lower case.

        It takes as long for a wrong key as for a right one.

        Raises:
          errors.UnauthenticatedError: there is no key in them that is known.
        """
        if not self._digests:
            return
        given = headers.get("x-api-key", "")
        authorization = headers.get("authorization", "")
        if authorization.lower().startswith(_BEARER):
            given = authorization[len(_BEARER) :].strip()
        digest = _digest(given)
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        if not any(matches):
            raise errors.UnauthenticatedError(
                None, None, "This server needs an API key that it knows"
            )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
