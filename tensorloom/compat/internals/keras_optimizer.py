"""The base of Keras' optimizers: libraries subclass it; none can be made here."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.refusals import refuse


class Optimizer:
    """Refused: Keras' optimizers are not here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        remedy = "Keras' optimizers are not here; use those of tf.train."
        refuse("keras.optimizers.Optimizer", remedy)
