"""Where versions come from: the directories below a model's base path.

    BASE_PATH/1/saved_model.pb ...
    BASE_PATH/2/...

A directory whose name is no number is not looked at: a writer uses such a name until
the version is whole.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.serving.manager.model_config import ModelConfig

_logger = logging.getLogger("tensorloom.serving")
_LARGEST_VERSION: Final = 2**63 - 1


def aspired_versions(config: ModelConfig) -> dict[int, str]:
    """The versions that are to be served now, with their directories.

    Raises:
      errors.InvalidArgumentError: the base path is not there.
      OSError, errors.OpError: it cannot be read.
    """
    base = config.base_path
    if not filesystem.exists(base):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Could not find base path {base} for servable {config.name} with error "
            f"Not found: {base} not found",
        )
    found = {}
    for child in filesystem.list_directory(base):
        version = version_of(child.rstrip("/"))
        if version is not None:
            found[version] = filesystem.join(base, child.rstrip("/"))
    return {version: found[version] for version in config.policy.choose(found)}


def version_of(name: str) -> int | None:
    """The version that a directory's name means; None if it is no number."""
    if not (name.isascii() and name.isdigit()):
        return None
    version = int(name)
    return version if version <= _LARGEST_VERSION else None


class VersionSource:
    """Looks for versions of all configured models, again and again.

    What it cannot read now it leaves as it was: a store that is away for a moment
    takes no model away.
    """

    def __init__(self) -> None:
        # What was last said about a model: it is said once.
        self._told: dict[str, str] = {}

    def poll(self, configs: dict[str, ModelConfig]) -> dict[str, dict[int, str]]:
        """The aspired versions by model; a model that could not be read is left out."""
        found = {}
        for name, config in configs.items():
            try:
                found[name] = aspired_versions(config)
            except (OSError, errors.OpError) as error:
                message = getattr(error, "message", None) or str(error)
                self._tell(name, f"FileSystemStoragePathSource: {message}")
                continue
            if found[name]:
                self._told.pop(name, None)
            else:
                self._tell(
                    name,
                    f"No versions of servable {name} found under base path "
                    f"{config.base_path}. Did you forget to name your leaf directory "
                    "as a number (eg. '/1/')?",
                )
        return found

    def _tell(self, name: str, message: str) -> None:
        if self._told.get(name) != message:
            self._told[name] = message
            _logger.warning("%s", message)
