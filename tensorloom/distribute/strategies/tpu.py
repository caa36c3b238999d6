"""`TPUStrategy` is refused: there are no TPUs."""

from __future__ import annotations

from typing import Any, NoReturn

from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.framework.export import export

_HELP = (
    "tensorloom has no TPUs. Use tf.distribute.MirroredStrategy, or OneDeviceStrategy, "
    "for the GPUs and CPUs of this machine."
)


@export("distribute.experimental.TPUStrategy", "contrib.distribute.TPUStrategy")
class TPUStrategy(Strategy):
    """Refused: replicas on the cores of TPUs.

    Raises:
      RuntimeError: always.
    """

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        steps_per_run: int | None = None,
        device_assignment: Any = None,
    ) -> None:
        raise RuntimeError(f"tf.distribute.experimental.TPUStrategy: {_HELP}")

    @property
    def steps_per_run(self) -> NoReturn:
        """Refused: RuntimeError."""
        raise RuntimeError(f"TPUStrategy.steps_per_run: {_HELP}")


@export("contrib.distribute.initialize_tpu_system")
def initialize_tpu_system(cluster_resolver: Any = None) -> NoReturn:
    """Refused: starts a TPU.

    Raises:
      RuntimeError: always.
    """
    raise RuntimeError(f"tf.contrib.distribute.initialize_tpu_system: {_HELP}")
