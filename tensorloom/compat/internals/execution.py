"""In which mode a program runs: as a graph, always."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.framework.graph import graph

GRAPH_MODE = 0
EAGER_MODE = 1
# How steps run where there are no sessions.
SYNC = 0
ASYNC = 1


@contextmanager
def graph_mode() -> Iterator[None]:
    """Operations build the graph, as they do outside too."""
    yield


def device(name: Any) -> Any:
    """`tf.device`."""
    return graph.device(name)


def num_gpus() -> int:
    """How many GPUs this process has."""
    from tensorloom.client.session.device_lib import list_local_devices

    return sum(device.device_type == "GPU" for device in list_local_devices())


def shared_name(name: str | None = None) -> str | None:
    """The `shared_name` of a resource: the name, as graphs have it."""
    return name


class Context:
    """What a program may ask of the mode that it runs in."""

    def executing_eagerly(self) -> bool:
        """False."""
        return False

    def num_gpus(self) -> int:
        """How many GPUs this process has."""
        return num_gpus()

    def ensure_initialized(self) -> None:
        """Nothing is started before a session is."""

    @property
    def config(self) -> Any:
        """A ConfigProto of defaults."""
        from tensorloom.protos.config_pb2 import ConfigProto

        return ConfigProto(allow_soft_placement=True)

    def _clear_caches(self) -> None:
        """No values are kept."""


_context = Context()


def context() -> Context:
    """The one context of the process."""
    return _context


def v2_is_enabled() -> bool:
    """False: the behaviour is that of TensorFlow 1."""
    return False


class EagerTensor:
    """The class of values of eager execution: there are none."""


def executing_eagerly_outside_functions() -> bool:
    """False: operations build graphs."""
    return False
