"""How a session gets its master: by the scheme of its target.

The wiring registers a factory for local sessions (the empty scheme) and one for each
protocol of remote masters.
"""

from __future__ import annotations

from collections.abc import Callable

from tensorloom.framework.errors import NotFoundError
from tensorloom.framework.interfaces import MasterInterface
from tensorloom.framework.registry import late_modules
from tensorloom.framework.runtime.session_config import SessionConfig

# (target, config) -> a master that the session may create its state in.
MasterFactory = Callable[[str, SessionConfig], MasterInterface]

_FACTORIES: dict[str, MasterFactory] = {}


def register_master_factory(scheme: str, factory: MasterFactory) -> None:
    """Says who makes masters for targets `scheme://...`; "" is local mode."""
    _FACTORIES[scheme] = factory


def make_master(target: str, config: SessionConfig) -> MasterInterface:
    """The master for a session with this target.

    Raises:
      errors.NotFoundError: no factory is registered for the target's scheme.
    """
    scheme = target.partition("://")[0] if "://" in target else ""
    late_modules.load("master", scheme)
    factory = _FACTORIES.get(scheme)
    if factory is None or (target and not scheme):
        late_modules.load_all("master")
        known = ", ".join(f"{name}://" if name else "''" for name in sorted(_FACTORIES))
        raise NotFoundError(
            None,
            None,
            "No session factory registered for the given session options: "
            f'{{target: "{target}"}} Registered factories are for: {known}.',
        )
    return factory(target, config)
