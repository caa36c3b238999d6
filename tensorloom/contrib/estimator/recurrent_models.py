"""`RNNClassifier` and `RNNEstimator`: recurrent models of sequences of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.estimator.extended import clip_gradients_by_norm
from tensorloom.contrib.estimator.recurrent_logits import (
    make_rnn_cell_fn,
    rnn_logit_fn_builder,
)
from tensorloom.estimator.canned.heads.choice import binary_or_multi_class_head
from tensorloom.estimator.canned.optimizers import get_optimizer_instance
from tensorloom.estimator.canned.partitioners import (
    check_features,
    input_partitioner,
    layer_partitioner,
)
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.heads.sequential_head import SequentialHead
from tensorloom.framework.export import export
from tensorloom.losses.weighted import Reduction
from tensorloom.train import training_util
from tensorloom.train.optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig
    from tensorloom.estimator.spec import EstimatorSpec

_LEARNING_RATE: Final = 0.05
_CLIP_NORM: Final = 5.0

# Stands for an argument that was not given: None has a meaning of its own.
USE_DEFAULT: Final = object()


@export("contrib.estimator.RNNClassifier")
class RNNClassifier(Estimator):
    """A classifier of sequences by the last output of a recurrent network."""

    def __init__(
        self,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ) -> None:
        """Makes a model.

        Args:
          sequence_feature_columns: of sequences, whose steps the network sees.
          context_feature_columns: dense columns that stand beside every step.
          num_units: of each layer of the cell.
          cell_type: `"basic_rnn"` (as when not given), `"lstm"`, `"gru"` or a subclass
            of `RNNCell`.
          rnn_cell_fn: or a function of the mode that makes the cell.
          model_dir: its directory; a temporary one when None.
          n_classes: how many classes there are.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          optimizer: an optimizer; or its name or a function that makes one, with
            gradients of a norm of at most 5.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.

        Raises:
          ValueError: a cell is given in two ways, or an argument is impossible.
        """
        rnn_cell_fn = chosen_cell_fn(rnn_cell_fn, num_units, cell_type)
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        columns = tuple(sequence_feature_columns or ())
        context = tuple(context_feature_columns or ())

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return rnn_model_fn(
                features,
                labels,
                mode,
                head,
                rnn_cell_fn,
                columns,
                context,
                optimizer=optimizer,
                input_layer_partitioner=input_layer_partitioner,
                config=config,
            )

        super().__init__(model_fn, model_dir, config)


@export("contrib.estimator.RNNEstimator")
class RNNEstimator(Estimator):
    """A recurrent network with any head."""

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ) -> None:
        """Makes a model.

        Args:
          head: what makes loss and predictions of logits.
          sequence_feature_columns: of sequences, whose steps the network sees.
          context_feature_columns: dense columns that stand beside every step.
          num_units: of each layer of the cell.
          cell_type: `"basic_rnn"` (as when not given), `"lstm"`, `"gru"` or a subclass
            of `RNNCell`.
          rnn_cell_fn: or a function of the mode that makes the cell.
          return_sequences: logits for each step; the head is one of sequences.
          model_dir: its directory; a temporary one when None.
          optimizer: an optimizer; or its name or a function that makes one, with
            gradients of a norm of at most 5.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.

        Raises:
          ValueError: a cell is given in two ways, or the head is not for sequences.
        """
        rnn_cell_fn = chosen_cell_fn(rnn_cell_fn, num_units, cell_type)
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when "
                "`return_sequences` is set to True."
            )
        columns = tuple(sequence_feature_columns or ())
        context = tuple(context_feature_columns or ())

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return rnn_model_fn(
                features,
                labels,
                mode,
                head,
                rnn_cell_fn,
                columns,
                context,
                return_sequences,
                optimizer,
                input_layer_partitioner,
                config,
            )

        super().__init__(model_fn, model_dir, config)


def chosen_cell_fn(
    rnn_cell_fn: Callable[[str], Any] | None, num_units: Any, cell_type: Any
) -> Callable[[str], Any]:
    """The function that makes the cell.

    Raises:
      ValueError: a function is given, and sizes or a kind too.
    """
    if rnn_cell_fn:
        if num_units or cell_type is not USE_DEFAULT:
            raise ValueError(
                "num_units and cell_type must not be specified when using rnn_cell_fn"
            )
        return rnn_cell_fn
    kind = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
    return make_rnn_cell_fn(num_units, kind)


def rnn_model_fn(
    features: Mapping[Any, Any],
    labels: Any,
    mode: str,
    head: Any,
    rnn_cell_fn: Callable[[str], Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    return_sequences: bool = False,
    optimizer: Any = "Adagrad",
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
) -> EstimatorSpec:
    """The model in a mode; see `RNNEstimator`.

    Raises:
      ValueError: the features are no dict, or an argument is impossible.
    """
    check_features(features)
    if not isinstance(optimizer, Optimizer):
        made = get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
        optimizer = clip_gradients_by_norm(made, _CLIP_NORM)
    with variable_scope(
        "rnn", values=tuple(features.values()), partitioner=layer_partitioner(config)
    ):
        logit_fn = rnn_logit_fn_builder(
            head.logits_dimension,
            rnn_cell_fn,
            sequence_feature_columns,
            context_feature_columns,
            input_layer_partitioner or input_partitioner(config),
            return_sequences,
        )
        logits, mask = logit_fn(features=features, mode=mode)
        if return_sequences and head.input_sequence_mask_key not in features:
            features = {**features, head.input_sequence_mask_key: mask}

        def train_op_fn(loss: Any) -> Any:
            step = training_util.get_global_step()
            return optimizer.minimize(loss, global_step=step)

        spec: EstimatorSpec = head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_fn,
            logits=logits,
        )
    return spec
