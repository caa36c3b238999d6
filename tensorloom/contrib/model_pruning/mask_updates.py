"""Masks that take in more weights as training goes on (Zhu and Gupta, 2017)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.program import program_log
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.model_pruning.blocks import expand_tensor, factorized_pool
from tensorloom.contrib.model_pruning.masks import (
    get_masks,
    get_thresholds,
    get_weights,
)
from tensorloom.contrib.training.hparams import HParams
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.pooling.pool_nd import pool
from tensorloom.ops.state.initializers import Zeros
from tensorloom.ops.state.reference_variable import assign
from tensorloom.summary.summary import scalar
from tensorloom.train import training_util


@export("contrib.model_pruning.get_pruning_hparams")
def get_pruning_hparams() -> HParams:
    """The settings of `Pruning`, with their defaults.

    `begin_pruning_step` and `end_pruning_step` (-1: never) say when masks are updated,
    every `pruning_frequency` steps. The share of zeros goes from `initial_sparsity` to
    `target_sparsity` between `sparsity_function_begin_step` and
    `sparsity_function_end_step`, by the power `sparsity_function_exponent`;
    `weight_sparsity_map` has other targets for some weights ("conv1:0.9").
    `threshold_decay` is the part of a threshold that stays with each update.
    Blocks of `block_height` by `block_width` weights (-1: all), or of
    `block_dims_map` ("dense1:4x4"), are taken together, by their mean or maximum
    (`block_pooling_function`: "AVG" or "MAX"). `nbins` is not used.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def _validate(spec: Any) -> None:
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step and spec.end_pruning_step != -1:
        raise ValueError(
            "Pruning must begin before it can end. begin_step="
            f"{spec.begin_pruning_step}, end_step={spec.end_pruning_step}."
            "Set end_pruning_step to -1 if pruning is required till trainingstops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1)")


def _entries(values: Iterable[str]) -> list[tuple[re.Pattern[str], str]]:
    """(pattern of names, value) of texts such as "conv1:0.9"."""
    pairs = [value.split(":") for value in values if value]
    return [(re.compile(name), value) for name, value in pairs]


def _only(matches: list[Any], what: str, name: str) -> Any:
    if len(matches) > 1:
        raise ValueError(f"Multiple matches in {what} for weight {name}")
    return matches[0] if matches else None


@export("contrib.model_pruning.Pruning")
class Pruning:
    """Updates the masks of the default graph."""

    def __init__(
        self, spec: Any = None, global_step: Any = None, sparsity: Any = None
    ) -> None:
        """Adds what is needed to the default graph.

        Args:
          spec: what `get_pruning_hparams` gives, changed.
          global_step: the step; the graph's when None.
          sparsity: the share of zeros; by the settings and the step when None.

        Raises:
          ValueError: settings do not fit.
        """
        self._spec = spec if spec else get_pruning_hparams()
        _validate(self._spec)
        if global_step is None:
            global_step = training_util.get_global_step()
        self._global_step = math_ops.cast(global_step, dtypes.int32)
        self._sparsity = self._scheduled() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        self._last_update_step = self._last_step()
        self._block_dims_map = []
        for pattern, text in _entries(self._spec.block_dims_map):
            sizes = text.split("x")
            if len(sizes) != 2:
                raise ValueError(
                    f"Expected 2 values for block dim for {pattern.pattern}, got "
                    f"{sizes}"
                )
            self._block_dims_map.append((pattern, [int(size) for size in sizes]))
        self._weight_sparsity_map = []
        for pattern, text in _entries(self._spec.weight_sparsity_map):
            if float(text) >= 1.0:
                raise ValueError("Weight sparsity can not exceed 1.0")
            self._weight_sparsity_map.append((pattern, float(text)))

    def _scheduled(self) -> Any:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            passed = math_ops.cast(self._global_step - begin, dtypes.float32)
            share = math_ops.minimum(
                1.0, math_ops.maximum(0.0, math_ops.div(passed, end - begin))
            )
            left = math_ops.pow(1 - share, spec.sparsity_function_exponent)
            return math_ops.add(
                math_ops.multiply(spec.initial_sparsity - spec.target_sparsity, left),
                spec.target_sparsity,
                name="sparsity",
            )

    def _last_step(self) -> Any:
        name = "last_mask_update_step"
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as scope:
            try:
                return get_variable(
                    name, [], initializer=Zeros(), trainable=False, dtype=dtypes.int32
                )
            except ValueError:  # it is there
                scope.reuse_variables()
                return get_variable(name, dtype=dtypes.int32)

    def _get_block_dims(self, name: str) -> list[int]:
        found = [dims for pattern, dims in self._block_dims_map if pattern.search(name)]
        dims = _only(found, "block_dims_map", name)
        default = [self._spec.block_height, self._spec.block_width]
        return list(default if dims is None else dims)

    def _get_sparsity(self, name: str) -> Any:
        found = [s for pattern, s in self._weight_sparsity_map if pattern.search(name)]
        target = _only(found, "weight_sparsity_map", name)
        if target is None:
            return self._sparsity
        return math_ops.multiply(
            self._sparsity, math_ops.div(target, self._spec.target_sparsity)
        )

    def _update_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """(new threshold, new mask): as many weights as the sparsity says stay."""
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        sparsity = self._get_sparsity(weights.op.name)
        decay = self._spec.threshold_decay
        with name_scope(f"{weights.op.name}_pruning_ops"):
            sizes = math_ops.abs(weights)
            count = math_ops.cast(array_ops.size(sizes), dtypes.float32)
            kept = math_ops.cast(math_ops.round(count * (1 - sparsity)), dtypes.int32)
            ordered, _ = top_k(array_ops.reshape(sizes, [-1]), k=array_ops.size(sizes))
            least = array_ops.gather(ordered, kept - 1)
            smoothed = math_ops.add_n(
                [
                    math_ops.multiply(least, 1 - decay),
                    math_ops.multiply(threshold, decay),
                ]
            )
            mask = math_ops.greater_equal(sizes, smoothed)
            return smoothed, math_ops.cast(mask, dtypes.float32)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        dims = self._get_block_dims(weights.op.name)
        matrix = array_ops.squeeze(weights)
        if matrix.get_shape().ndims != 2 or dims == [1, 1]:
            return self._update_mask(weights, threshold)
        shape: Any = matrix.get_shape().as_list()
        dims = [size if d == -1 else d for d, size in zip(dims, shape, strict=True)]
        kind = self._spec.block_pooling_function
        if kind not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}")
        with name_scope(f"{weights.op.name}_pruning_ops"):
            values = math_ops.abs(matrix)
            pool_fn: Any = factorized_pool
            if not self._spec.use_tpu:
                values, pool_fn = array_ops.reshape(values, [1, *shape, 1]), pool
            pooled = pool_fn(
                values,
                window_shape=dims,
                pooling_type=kind,
                strides=dims,
                padding="SAME",
                name=f"{weights.op.name}_pooled",
            )
            if pooled.get_shape().ndims != 2:
                pooled = array_ops.squeeze(pooled, axis=[0, 3])
            smoothed, mask = self._update_mask(pooled, threshold)
            mask = array_ops.slice(expand_tensor(mask, dims), [0, 0], shape)
        return smoothed, array_ops.reshape(mask, array_ops.shape(weights))

    def _get_mask_assign_ops(self) -> None:
        if self._assign_ops:
            raise ValueError(
                "Assign op list not empty. _get_mask_assign_ops() called twice?"
            )
        masks, weights, thresholds = get_masks(), get_weights(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds "
                f"{len(thresholds)} mismatch"
            )
        for mask, weight, threshold in zip(masks, weights, thresholds, strict=True):
            whole = weight
            if isinstance(weight, PartitionedVariable):
                whole = weight.as_tensor()
            new_threshold, new_mask = self._maybe_update_block_mask(whole, threshold)
            self._assign_ops.append(_assign(threshold, new_threshold))
            store = _assign if whole is weight else _assign_parts
            self._assign_ops.append(store(mask, new_mask))

    def mask_update_op(self) -> Any:
        """Updates all masks and thresholds."""
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            step = assign(
                self._last_update_step,
                self._global_step,
                name="last_mask_update_step_assign",
            )
            with control_dependencies([step, *self._assign_ops]):
                program_log.info("Updating masks.")
                return no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """Updates all masks and thresholds if it is time."""
        spec, step = self._spec, self._global_step
        with name_scope(spec.name):
            in_range = math_ops.logical_and(
                math_ops.greater_equal(step, spec.begin_pruning_step),
                math_ops.logical_or(
                    math_ops.less_equal(step, spec.end_pruning_step),
                    math_ops.less(spec.end_pruning_step, 0),
                ),
            )
            due = math_ops.add(self._last_update_step, spec.pruning_frequency)
            is_due = math_ops.less_equal(due, step)
            is_time = math_ops.logical_and(in_range, is_due)
        return cond(is_time, self.mask_update_op, no_op)

    def add_pruning_summaries(self) -> None:
        """Summarizes shares of zeros and thresholds."""
        with name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=False):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the settings."""
        program_log.info(self._spec.to_json())


def _assign(variable: Any, value: Any) -> Any:
    return assign(variable, value, name=f"{variable.op.name}_assign")


def _assign_parts(variable: Any, value: Any) -> Any:
    """Stores a tensor in the parts of a variable."""
    parts = list(variable)
    shapes = np.array([part.get_shape().as_list() for part in parts])
    differs = np.flatnonzero(shapes[0] != np.array(variable.get_shape().as_list()))
    axis = int(differs[0]) if len(differs) else 0
    values = array_ops.split(value, shapes[:, axis].tolist(), axis=axis)
    ops = [_assign(*pair) for pair in zip(parts, values, strict=True)]
    return group(*ops, name=f"{variable.name}_group_assign")
