"""`slim.learning`: a training step from a loss, and one run of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.session.timeline import Timeline
from tensorloom.contrib.training import train_steps
from tensorloom.contrib.training.gradient_pairs import (
    Pairs,
    clip_gradient_norms,
    multiply_gradients,
)
from tensorloom.contrib.training.gradient_pairs import (
    summarize_gradients as summaries_of_gradients,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.protos import config_pb2
from tensorloom.storage.files import filesystem, gfile
from tensorloom.train.optimizers.optimizer import Optimizer

# A default that is not None, which has a meaning of its own in some arguments.
USE_DEFAULT: Final = 0


def is_default(value: Any) -> bool:
    """Whether an argument was left out."""
    return isinstance(value, int) and value == USE_DEFAULT


@export("contrib.slim.learning.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Pairs) -> list[Any]:
    """Summaries `VARIABLE/gradient` and `VARIABLE/gradient_norm` of all gradients.

    Args:
      grads_and_vars: pairs of gradient and variable.

    Returns:
      The summaries, two for each gradient that is not None.
    """
    return summaries_of_gradients(grads_and_vars, "/")


@export("contrib.slim.learning.create_train_op")
def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = train_steps.STEP_OF_GRAPH,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Tensor:
    """A training step, as the loss that waits for it.

    Args:
      total_loss: a scalar.
      optimizer: applies the gradients.
      global_step: counts steps: the graph's unless given, nothing when None.
      update_ops: run before the loss; those of UPDATE_OPS when None.
      variables_to_train: all trainable ones when None.
      clip_gradient_norm: the most that a gradient's own norm may be; 0 for no limit.
      summarize_gradients: whether every gradient gets summaries.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: as in
        `Optimizer.compute_gradients`.
      gradient_multipliers: from variables or names of their operations to factors.
      check_numerics: whether a loss that is no finite number ends the step with
        InvalidArgumentError.

    Raises:
      AssertionError: there is nothing to train, or a variable is not trainable.
      ValueError: a variable with a factor has no gradient.
    """

    def transform(pairs: Pairs) -> Pairs:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return train_steps.create_train_op(
        total_loss=total_loss,
        optimizer=optimizer,
        global_step=global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )


@export("contrib.slim.learning.train_step")
def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Runs a training step once.

    Args:
      sess: the session.
      train_op: the step, whose value is the loss.
      global_step: counts steps.
      train_step_kwargs: boolean tensors `should_log`, `should_stop` and `should_trace`,
        `logdir` for traces and a `summary_writer`; all may be missing.

    Returns:
      (loss, whether to stop).

    Raises:
      ValueError: there is `should_trace` without `logdir`.
    """
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError(
                "logdir must be present in train_step_kwargs when should_trace is "
                "present"
            )
        if sess.run(train_step_kwargs["should_trace"]):
            options = config_pb2.RunOptions(
                trace_level=config_pb2.RunOptions.FULL_TRACE
            )
            metadata = config_pb2.RunMetadata()
    loss, step = sess.run(
        [train_op, global_step], options=options, run_metadata=metadata
    )
    elapsed = time.time() - start
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        program_log.info(
            "global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed
        )
    if "should_stop" not in train_step_kwargs:
        return loss, False
    return loss, sess.run(train_step_kwargs["should_stop"])


def _write_trace(metadata: Any, step: Any, arguments: Mapping[str, Any]) -> None:
    trace = Timeline(metadata.step_stats).generate_chrome_trace_format()
    path = filesystem.join(arguments["logdir"], f"tf_trace-{step}.json")
    program_log.info("Writing trace to %s", path)
    gfile.write_string_to_file(path, trace)
    writer = arguments.get("summary_writer")
    if writer is not None:
        writer.add_run_metadata(metadata, f"run_metadata-{step}")
