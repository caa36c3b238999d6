"""Alternating least squares as an Estimator: `WALSMatrixFactorization`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.factorization.sweeps import (
    COMPLETED_SWEEPS,
    IncrementGlobalStep,
    StopAtSweep,
    Sweeps,
)
from tensorloom.contrib.factorization.wals_model import WALSModel
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    colocate_with,
    control_dependencies,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import fill, ones_like
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import logical_not
from tensorloom.ops.math.elementwise import sqrt
from tensorloom.ops.reductions.reductions import reduce_all
from tensorloom.ops.state.reference_variable import assign, assign_add
from tensorloom.ops.state.scatter import scatter_update
from tensorloom.summary.summary import scalar


@export("contrib.factorization.WALSMatrixFactorization")
class WALSMatrixFactorization(Estimator):
    """A sparse matrix as a product of two, by weighted alternating least squares.

    Its `input_fn` gives ({INPUT_ROWS: rows of the matrix, INPUT_COLS: rows of the
    transposed matrix}, None), float32 SparseTensors. Training sweeps over all rows,
    then over all columns, and so on. To evaluate and to predict, PROJECT_ROW says
    whether rows or columns count; PROJECTION_WEIGHTS are their weights, else 1.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = COMPLETED_SWEEPS
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        """Makes a model.

        Args:
          num_rows, num_cols: the size of the matrix.
          embedding_dimension: the number of columns of the factors.
          regularization_coeff: of the squares of the factors; none when None.
          use_factors_weights_cache_for_training, use_gramian_cache_for_training:
            whether copies are kept on the worker in training.
          max_sweeps: after so many sweeps training stops.
          unobserved_weight, row_init, col_init, num_row_shards, num_col_shards,
            row_weights, col_weights: see `WALSModel`.
          model_dir: its directory.
          config: settings.

        Raises:
          ValueError: there are several workers.
        """
        self._shards = num_row_shards, num_col_shards

        def make(mode: str) -> WALSModel:
            trains = mode == ModeKeys.TRAIN
            return WALSModel(
                num_rows,
                num_cols,
                embedding_dimension,
                unobserved_weight,
                regularization_coeff,
                row_init,
                col_init,
                num_row_shards,
                num_col_shards,
                row_weights,
                col_weights,
                use_factors_weights_cache_for_training and trains,
                use_gramian_cache_for_training and trains,
            )

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            assert labels is None
            model = make(mode)
            if mode == ModeKeys.TRAIN:
                return _training(model, features, (num_rows, num_cols), max_sweeps)
            if mode == ModeKeys.EVAL:
                return _evaluation(model, features)
            return _projection(model, features)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
        if self._config is not None and self._config.num_worker_replicas > 1:
            raise ValueError(
                "WALSMatrixFactorization must be run on a single worker replica."
            )

    def get_row_factors(self) -> list[Any]:
        """The factors of the rows, an array for each shard."""
        return self._factors("row", self._shards[0])

    def get_col_factors(self) -> list[Any]:
        """The factors of the columns, an array for each shard."""
        return self._factors("col", self._shards[1])

    def _factors(self, side: str, shards: int) -> list[Any]:
        names = [f"{side}_factors_shard_{i}" for i in range(shards)]
        return [self.get_variable_value(name) for name in names]

    def get_projections(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """The factors that rows, or columns, would have."""
        results = self.predict(input_fn=input_fn)
        return (result[self.PROJECTION_RESULT] for result in results)


_KEYS = WALSMatrixFactorization


def _global(value: Any, name: str) -> Variable:
    return Variable(
        value,
        trainable=False,
        name=name,
        collections=[GraphKeys.GLOBAL_VARIABLES],
    )


def _training(
    model: WALSModel, features: Any, sizes: tuple[int, int], max_sweeps: int | None
) -> ModelFnOps:
    is_row_sweep = _global(True, "is_row_sweep")
    is_done = _global(False, "is_sweep_done")
    completed = _global(0, _KEYS.COMPLETED_SWEEPS)
    loss_var, rwse_var = _global(0.0, _KEYS.LOSS), _global(0.0, _KEYS.RWSE)
    scalar("loss", loss_var)
    scalar("root_weighted_squared_error", rwse_var)
    scalar("completed_sweeps", completed)

    def axis(entries: Any, size: int, update: Any, name: str) -> tuple[Any, Any]:
        """(forgets which rows were seen; solves for rows and notes them)."""
        none = fill(dims=[size], value=False)
        with colocate_with(none):
            seen = _global(none, f"processed_{name}")
        _, store, loss, penalty, weights = update
        rows = entries.indices[:, 0]
        noted = [
            store,
            assign(loss_var, loss + penalty),
            assign(rwse_var, sqrt(loss / weights)),
        ]
        with control_dependencies(noted), colocate_with(seen):
            marks = ones_like(rows, dtype=dtypes.bool)
            marked = scatter_update(
                seen, rows, marks, name=f"update_processed_{name}_indices"
            )
        with control_dependencies([*noted, marked]):
            done = reduce_all(seen)
            train = group(
                assign(is_done, done),
                assign_add(completed, cast(done, dtypes.int32)),
                name=f"{name}_sweep_train_op",
            )
        return seen.initializer, train

    rows, cols = features[_KEYS.INPUT_ROWS], features[_KEYS.INPUT_COLS]
    forget_rows, train_rows = axis(
        rows, sizes[0], model.update_row_factors(rows), "rows"
    )
    forget_cols, train_cols = axis(
        cols, sizes[1], model.update_col_factors(cols, transpose_input=True), "cols"
    )
    switch = group(
        assign(is_row_sweep, logical_not(is_row_sweep)),
        forget_rows,
        forget_cols,
        name="sweep_switch_op",
    )
    before_rows = [model.row_update_prep_gramian_op, model.initialize_row_update_op]
    before_cols = [model.col_update_prep_gramian_op, model.initialize_col_update_op]
    hooks: list[Any] = [
        Sweeps(
            is_row_sweep,
            is_done,
            model.worker_init,
            before_rows,
            before_cols,
            train_rows,
            train_cols,
            switch,
        ),
        IncrementGlobalStep(),
    ]
    if max_sweeps is not None:
        hooks.append(StopAtSweep(max_sweeps))
    return ModelFnOps(
        mode=ModeKeys.TRAIN,
        predictions={},
        loss=loss_var,
        eval_metric_ops={},
        train_op=no_op(),
        training_hooks=hooks,
    )


def _evaluation(model: WALSModel, features: Any) -> ModelFnOps:
    def of(update: Any, entries: Any, transposed: bool) -> Any:
        _, _, loss, penalty, _ = update(sp_input=entries, transpose_input=transposed)
        return loss + penalty

    loss = cond(
        features[_KEYS.PROJECT_ROW],
        lambda: of(model.update_row_factors, features[_KEYS.INPUT_ROWS], False),
        lambda: of(model.update_col_factors, features[_KEYS.INPUT_COLS], True),
    )
    return ModelFnOps(
        mode=ModeKeys.EVAL,
        predictions={},
        loss=loss,
        eval_metric_ops={},
        train_op=no_op(),
        training_hooks=[],
    )


def _projection(model: WALSModel, features: Any) -> ModelFnOps:
    weights = features.get(_KEYS.PROJECTION_WEIGHTS)

    def of(project: Any, entries: Any, transposed: bool) -> Any:
        return project(
            sp_input=entries, projection_weights=weights, transpose_input=transposed
        )

    result = cond(
        features[_KEYS.PROJECT_ROW],
        lambda: of(model.project_row_factors, features[_KEYS.INPUT_ROWS], False),
        lambda: of(model.project_col_factors, features[_KEYS.INPUT_COLS], True),
    )
    return ModelFnOps(
        mode=ModeKeys.PREDICT,
        predictions={_KEYS.PROJECTION_RESULT: result},
        loss=None,
        eval_metric_ops={},
        train_op=no_op(),
        training_hooks=[],
    )
