"""What can be trained and evaluated by an `Experiment`."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.framework.export import export


@export("contrib.learn.Evaluable")
class Evaluable(abc.ABC):
    """A model that can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> Any:
        """Where its checkpoints are."""

    @abc.abstractmethod
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        """Evaluates a checkpoint; gives the metrics by their names.

        Args:
          x: features as arrays; or `input_fn`.
          y: labels as arrays.
          input_fn: gives features and labels as tensors.
          feed_fn: gives feeds for each step.
          batch_size: of `x` and `y`.
          steps: how many batches; all when None.
          metrics: `MetricSpec`s by their names.
          name: of the evaluation, if there are several.
          checkpoint_path: the checkpoint; the latest when None.
          hooks: hooks of the session.
        """


@export("contrib.learn.Trainable")
class Trainable(abc.ABC):
    """A model that can be trained."""

    @abc.abstractmethod
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains the model; gives it back.

        Args:
          x: features as arrays; or `input_fn`.
          y: labels as arrays.
          input_fn: gives features and labels as tensors.
          steps: how many steps more.
          batch_size: of `x` and `y`.
          monitors: monitors, or hooks of the session.
          max_steps: or up to which step.
        """
