"""Whether sessions that are made now ask for the rewrite to mixed precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework.runtime.session_config import TOGGLE_OFF, TOGGLE_ON


@dataclass
class MixedPrecision:
    """The state of the process."""

    is_enabled: bool = False
    #: Whether there was a session that does not ask for it.
    other_session_created: bool = False

    def applied_to(self, config: Any) -> Any:
        """The `ConfigProto` of a new session, which may be None for the defaults."""
        asked = None
        if config is not None:
            asked = config.graph_options.rewrite_options.auto_mixed_precision
        if self.is_enabled and asked != TOGGLE_OFF:
            return _asking(config)
        if asked != TOGGLE_ON:
            self.other_session_created = True
        return config


def _asking(config: Any) -> Any:
    from tensorloom.protos.config_pb2 import ConfigProto

    result = ConfigProto()
    if config is not None:
        result.CopyFrom(config)
    rewrites: Any = result.graph_options.rewrite_options
    rewrites.auto_mixed_precision = TOGGLE_ON
    return result


MIXED_PRECISION: Final = MixedPrecision()
