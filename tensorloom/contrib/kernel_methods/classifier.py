"""`KernelLinearClassifier`: a linear model of features that kernels mapped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.kernel_methods.mappers import DenseKernelMapper
from tensorloom.contrib.layers.columns.real_valued import (
    _RealValuedColumn,
    real_valued_column,
)
from tensorloom.contrib.learn.estimators.linear_models import linear_model_fn
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.head.makers import multi_class_head
from tensorloom.contrib.learn.keys import PredictionKey
from tensorloom.framework.export import export
from tensorloom.ops.array.concat import concat

Mappers = Mapping[Any, Sequence[DenseKernelMapper]]


def updated_features_and_columns(
    features: Mapping[str, Any], feature_columns: Iterable[Any], mappers: Mappers | None
) -> tuple[Mapping[str, Any], Iterable[Any]]:
    """Features and columns, and what the mappers make of some, as `NAME_MAPPED`.

    Args:
      features: tensors by their keys.
      feature_columns: columns of `tf.contrib.layers`.
      mappers: for columns of real values: what maps them.
    """
    if mappers is None:
        return features, feature_columns
    mapped_features = {}
    mapped_columns = set()
    for column, of_column in mappers.items():
        if not isinstance(column, _RealValuedColumn):
            program_log.warning(
                "Updates are currently supported on RealValuedColumns only. Metadata "
                f"for FeatureColumn {column.name} will not be updated."
            )
            continue
        name = f"{column.name}_MAPPED"
        size = sum(mapper.output_dim for mapper in of_column)
        mapped_columns.add(real_valued_column(name, size))
        parts = [mapper.map(features[column.name]) for mapper in of_column]
        mapped_features[name] = concat(parts, 1)
    return {**features, **mapped_features}, {*feature_columns, *mapped_columns}


def _kernel_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    features, columns = updated_features_and_columns(
        features, params["feature_columns"], params["kernel_mappers"]
    )
    params = {**params, "feature_columns": columns}
    return linear_model_fn(features, labels, mode, params, config)


@export("contrib.kernel_methods.KernelLinearClassifier")
class KernelLinearClassifier(Estimator):
    """A linear classifier that also sees features in the space of kernels.

    Args:
      feature_columns: columns of `tf.contrib.layers` that the model sees as they are.
      model_dir: where checkpoints and events go.
      n_classes: how many classes there are.
      weight_column_name: the feature that weighs examples, or None.
      optimizer: a `tf.train.Optimizer`; FTRL when None.
      kernel_mappers: for columns of real values: a list of `DenseKernelMapper`s.
      config: a `RunConfig`.

    Raises:
      ValueError: fewer than two classes, neither columns nor mappers, or what is not a
        `DenseKernelMapper`.
    """

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: Mappers | None = None,
        config: Any = None,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes, weight_column_name=weight_column_name
        )
        if not feature_columns and not kernel_mappers:
            raise ValueError(
                "You should set at least one of feature_columns, kernel_mappers."
            )
        for of_column in (kernel_mappers or {}).values():
            if not all(isinstance(mapper, DenseKernelMapper) for mapper in of_column):
                raise ValueError("Invalid kernel mappers.")
        params = {
            "head": head,
            "feature_columns": feature_columns or [],
            "optimizer": optimizer,
            "kernel_mappers": kernel_mappers,
        }
        super().__init__(
            model_fn=_kernel_model_fn,
            model_dir=model_dir,
            config=config,
            params=params,
        )

    def predict_classes(self, input_fn: Any = None) -> Iterator[Any]:
        """The class of each example, one after the other."""
        return self._predicted(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn: Any = None) -> Iterator[Any]:
        """The probabilities of each example's classes, one after the other."""
        return self._predicted(PredictionKey.PROBABILITIES, input_fn)

    def _predicted(self, key: str, input_fn: Any) -> Iterator[Any]:
        rows = self.predict(input_fn=input_fn, outputs=[key])
        return (row[key] for row in rows)
