"""`tf.estimator.Estimator`: a model that is trained, evaluated, used and exported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.estimator.checkpoints import check_checkpoint_available
from tensorloom.estimator.evaluation_part import EvaluationPart
from tensorloom.estimator.export_part import ExportPart
from tensorloom.estimator.prediction_part import PredictionPart
from tensorloom.estimator.training_part import TrainingPart
from tensorloom.framework.export import export
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.checkpoints.checkpoint_utils import list_variables, load_variable

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig

# What programs may override.
_OVERRIDABLE: Final = {
    "model_fn",
    "_create_and_assert_global_step",
    "_export_all_saved_models",
}


@export("estimator.Estimator")
class Estimator(TrainingPart, EvaluationPart, PredictionPart, ExportPart):
    """A model, given by a function that makes its graph for each mode.

        def model_fn(features, labels, mode, params):
            ...
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        estimator = tf.estimator.Estimator(model_fn, "/tmp/model", params={"rate": 0.1})
        estimator.train(input_fn, steps=1000)

    Each call makes a new graph and a new session. Checkpoints in the model's directory
    carry the variables from one to the next. Subclasses add methods; they do not
    override these.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        """Makes an Estimator.

        Args:
          model_fn: takes `features`, and may take `labels`, `mode`, `params` and
            `config`; returns an `EstimatorSpec`.
          model_dir: the directory of checkpoints, events and exports; that of `config`
            when None; a temporary one if it has none.
          config: settings; the usual ones when None.
          params: what the functions get as `params`.
          warm_start_from: a checkpoint, a SavedModel or `WarmStartSettings`: where the
            variables' first values come from.

        Raises:
          ValueError: a subclass overrides a member, the function takes other arguments,
            or the directories of `config` and `model_dir` differ.
        """
        self._assert_members_are_not_overridden()
        super().__init__(model_fn, model_dir, config, params, warm_start_from)

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        check_checkpoint_available(self.model_dir)
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        check_checkpoint_available(self.model_dir)
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> Any:
        """The path of the latest checkpoint; None if there is none."""
        return latest_checkpoint(self.model_dir)

    def _assert_members_are_not_overridden(self) -> None:
        kind = type(self)
        if kind.__name__ == "TPUEstimator":
            return
        own = {name for name in dir(Estimator) if not name.startswith("__")}
        overridden = sorted(
            name
            for name in own & set(vars(kind)) - _OVERRIDABLE
            if getattr(kind, name) != getattr(Estimator, name)
        )
        if overridden:
            raise ValueError(
                "Subclasses of Estimator cannot override members of Estimator. "
                f"{kind} does override {overridden}"
            )
