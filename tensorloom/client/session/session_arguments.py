"""The arguments of a session: checked, and the config decoded."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.runtime import session_config


def check_target(target: Any) -> None:
    """Raises TypeError unless the target is a string or None."""
    if target is None or isinstance(target, (str, bytes)):
        return
    message = f"target must be a string, but got {type(target)}"
    if hasattr(target, "device_count") and hasattr(target, "gpu_options"):
        message += '. Did you do "Session(config)" instead of "Session(config=config)"?'
    raise TypeError(message)


def decode_config(config: Any) -> session_config.SessionConfig:
    """The options of a `tf.ConfigProto`; the defaults for None.

    Raises:
      TypeError: it is something else.
    """
    if config is None:
        return session_config.DEFAULT
    if not isinstance(config, _config_proto()):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    return session_config.from_proto(config)


def _config_proto() -> Any:
    from tensorloom.protos.config_pb2 import ConfigProto

    return ConfigProto
