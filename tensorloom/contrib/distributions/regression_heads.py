"""`estimator_head_distribution_regression`: heads that predict distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.distributions.quadratures import concat_vectors
from tensorloom.contrib.learn.head.single_heads import RegressionHead
from tensorloom.contrib.learn.head.weights import weighted_loss
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array import array_ops


@export("contrib.distributions.estimator_head_distribution_regression")
def estimator_head_distribution_regression(
    make_distribution_fn: Callable[[Any], Any],
    label_dimension: int = 1,
    logits_dimension: int | None = None,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> RegressionHead:
    """A head of `contrib.learn` whose loss is the likelihood of labels.

    Args:
      make_distribution_fn: from logits to a distribution of labels.
      label_dimension: how many numbers an example's label has.
      logits_dimension: how many logits an example has; `label_dimension` by default.
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.

    Raises:
      TypeError: `make_distribution_fn` is no function.
    """
    return _DistributionRegressionHead(
        make_distribution_fn=make_distribution_fn,
        label_dimension=label_dimension,
        logits_dimension=logits_dimension,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


class _DistributionRegressionHead(RegressionHead):
    """Predicts the means of distributions."""

    def __init__(
        self,
        make_distribution_fn: Callable[[Any], Any],
        label_dimension: int,
        logits_dimension: int | None = None,
        **options: Any,
    ) -> None:
        if not callable(make_distribution_fn):
            raise TypeError("`make_distribution_fn` must be a callable function.")
        self._distributions: dict[Any, Any] = {}
        self._make_distribution_fn = make_distribution_fn

        def loss_fn(labels: Any, logits: Any, weights: Any = None) -> Any:
            distribution = self.distribution(logits)
            batch: Any = labels.shape.with_rank_at_least(1)[:-1]
            if batch.is_fully_defined():
                batch = batch.as_list()
            else:
                batch = array_ops.shape(labels)[:-1]
            shape = concat_vectors(batch, distribution.event_shape_tensor())
            labels = array_ops.reshape(labels, shape=shape)
            return weighted_loss(-distribution.log_prob(labels), weights)

        super().__init__(
            label_dimension=label_dimension,
            loss_fn=loss_fn,
            link_fn=lambda logits: self.distribution(logits).mean(),
            logits_dimension=logits_dimension,
            **options,
        )

    @property
    def distributions(self) -> dict[Any, Any]:
        """All distributions that were made, by their logits."""
        return self._distributions

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """The distribution of logits, made once."""
        with name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]
