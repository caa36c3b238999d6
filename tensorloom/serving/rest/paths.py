"""TensorFlow Serving's paths.

POST /v1/models/NAME[/versions/N|/labels/LABEL]:predict   (or :classify, :regress)
GET  /v1/models/NAME[/versions/N|/labels/LABEL][/metadata]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from tensorloom.framework import errors

_CHOICE: Final = r"(?:(?:/versions/(\d+))|(?:/labels/([^/:]+)))?"
_CALL: Final = re.compile(
    rf"/v1/models/([^/:]+){_CHOICE}:(classify|regress|predict)", re.IGNORECASE
)
_ABOUT: Final = re.compile(
    rf"/v1/models(?:/([^/:]+))?{_CHOICE}(?:/(metadata))?", re.IGNORECASE
)
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Target:
    """What a path means."""

    name: str
    version: int | None
    label: str | None
    #: "predict", "classify", "regress"; "metadata" or "status".
    verb: str

    def fill(self, model_spec: Any) -> Any:
        """Fills a `ModelSpec`; returns it."""
        model_spec.name = self.name
        if self.version is not None:
            model_spec.version.value = self.version
        elif self.label is not None:
            model_spec.version_label = self.label
        return model_spec


def parse(method: str, path: str) -> Target:
    """What a request is about; the path is not yet decoded.

    Raises:
      errors.InvalidArgumentError: it is none of the known paths.
    """
    pattern = {"POST": _CALL, "GET": _ABOUT}.get(method)
    match = pattern.fullmatch(path) if pattern is not None else None
    if match is None:
        raise errors.InvalidArgumentError(
            None, None, f"Malformed request: {method} {path}"
        )
    name, version, label, verb = match.groups()
    if version is not None and int(version) > _LARGEST:
        raise errors.InvalidArgumentError(
            None, None, f"Failed to convert version: {version} to numeric."
        )
    if name is None:
        raise errors.InvalidArgumentError(None, None, "Missing model name in request.")
    return Target(
        unquote(name),
        None if version is None else int(version),
        None if label is None else unquote(label),
        verb.lower() if verb else "status",
    )
