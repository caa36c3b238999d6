"""Which models are served: the config of a server, checked and decoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.serving.logs.log_options import LogOptions
from tensorloom.storage.files import filesystem

#: The only `model_platform` there is.
PLATFORM: Final = "tensorflow"


@dataclass(frozen=True, slots=True)
class VersionPolicy:
    """Which of the versions in a model's directory are served."""

    #: So many of the newest; None: see the others.
    latest: int | None = 1
    #: Exactly these; None: all.
    specific: tuple[int, ...] | None = None

    def choose(self, found: Iterable[int]) -> list[int]:
        """The versions to serve of those that were found, in order."""
        versions = sorted(found)
        if self.latest is not None:
            return versions[-self.latest :]
        if self.specific is None:
            return versions
        return [version for version in versions if version in self.specific]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One model."""

    name: str
    base_path: str
    policy: VersionPolicy = VersionPolicy()
    #: The versions that labels stand for.
    labels: Mapping[str, int] = field(default_factory=dict)
    #: Which of its requests are logged; None: none.
    log: LogOptions | None = None


def single_model(name: str, base_path: str) -> dict[str, ModelConfig]:
    """What `--model_name` and `--model_base_path` say."""
    return {name: ModelConfig(name, _absolute(base_path))}


def read_config_file(path: str) -> dict[str, ModelConfig]:
    """The models of a `--model_config_file`.

    Raises:
      errors.InvalidArgumentError: it is no `ModelServerConfig` in text format, or says
        something that cannot be.
      OSError, errors.OpError: it cannot be read.
    """
    from tensorloom.protos.serving.model_server_config_pb2 import ModelServerConfig

    config = parse_text_file(path, ModelServerConfig())
    if config.WhichOneof("config") == "custom_model_config":
        raise errors.InvalidArgumentError(
            None, None, f"{path}: custom_model_config is not supported"
        )
    return decode(config.model_config_list)


def parse_text_file(path: str, message: Any) -> Any:
    """Fills a message with a file in text format.

    Raises:
      errors.InvalidArgumentError: it is not that.
      OSError, errors.OpError: it cannot be read.
    """
    from google.protobuf import text_format

    from tensorloom.protos.pool import ANY_TYPES

    try:
        text = filesystem.read_file(path).decode()
        return text_format.Parse(text, message, descriptor_pool=ANY_TYPES)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        kind = type(message).__name__
        raise errors.InvalidArgumentError(
            None, None, f"Invalid protobuf file: '{path}' is no {kind}: {error}"
        ) from None


def decode(model_config_list: Any) -> dict[str, ModelConfig]:
    """The models of a `ModelConfigList`, by name.

    Raises:
      errors.InvalidArgumentError: two have one name, or one says something wrong.
    """
    found: dict[str, ModelConfig] = {}
    for config in model_config_list.config:
        if config.name in found:
            raise _invalid(
                f"Illegal to list model {config.name} multiple times in config list"
            )
        found[config.name] = _decode_model(config)
    return found


def _decode_model(config: Any) -> ModelConfig:
    _check_platform(config)
    if not config.name:
        raise _invalid("A model of the config list has no name")
    if _is_relative(config.base_path):
        raise _invalid(
            f"Expected model {config.name} to have an absolute path or URI; got "
            f"base_path()={config.base_path}"
        )
    return ModelConfig(
        config.name,
        config.base_path,
        _decode_policy(config.model_version_policy),
        dict(config.version_labels),
        LogOptions.decode(config.logging_config)
        if config.HasField("logging_config")
        else None,
    )


def _check_platform(config: Any) -> None:
    about = f"model name is {config.name}"
    platform = config.model_platform
    if config.model_type:
        if platform:
            raise _invalid(
                "Illegal setting both ModelServerConfig::model_type (deprecated) and "
                f"ModelServerConfig::model_platform, {about}"
            )
        if config.model_type != 1:
            raise _invalid(
                f"ModelServerConfig::model_type choice {config.model_type} not "
                "supported."
            )
        platform = PLATFORM
    if not platform:
        raise _invalid(
            "Illegal setting neither ModelServerConfig::model_type (deprecated) nor "
            f"ModelServerConfig::model_platform, {about}"
        )
    if platform != PLATFORM:
        raise _invalid(f"Model {config.name} requests unsupported platform {platform}")


def _decode_policy(policy: Any) -> VersionPolicy:
    choice = policy.WhichOneof("policy_choice")
    if choice == "all":
        return VersionPolicy(None)
    if choice == "specific":
        return VersionPolicy(None, tuple(policy.specific.versions))
    return VersionPolicy(max(policy.latest.num_versions, 1))


def _is_relative(path: str) -> bool:
    return "://" not in path and not path.startswith("/")


def _absolute(path: str) -> str:
    from pathlib import Path

    return str(Path(path).absolute()) if _is_relative(path) else path


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
