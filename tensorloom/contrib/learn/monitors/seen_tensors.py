"""Monitors that log or keep the values of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.monitors.base_monitors import (
    BaseMonitor,
    EveryN,
    extract_output,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    get_collection,
    get_default_graph,
)


def _shown(names: dict[Any, Any], outputs: dict[Any, Any]) -> str:
    found = (
        f"{tag} = {extract_output(outputs, name)}"
        for tag, name in names.items()
        if name in outputs
    )
    return ", ".join(found)


@export("contrib.learn.monitors.PrintTensor")
class PrintTensor(EveryN):
    """Logs tensors.

    Args:
      tensor_names: names of tensors, or a dict of them by tags.
      every_n: how many steps apart.
      first_n: up to which step each step.
    """

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, dict):
            tensor_names = {item: item for item in tensor_names}
        self._tensor_names = tensor_names

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the tensors."""
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        program_log.info("Step %d: %s", step, _shown(self._tensor_names, outputs))


@export("contrib.learn.monitors.LoggingTrainable")
class LoggingTrainable(EveryN):
    """Logs the trainable variables.

    Args:
      scope: those whose names begin so; all when None.
      every_n: how many steps apart.
      first_n: up to which step each step.
    """

    def __init__(
        self, scope: str | None = None, every_n: int = 100, first_n: int = 1
    ) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the variables' values."""
        super().every_n_step_begin(step)
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {one.name: one.value().name for one in variables}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        shown = _shown(self._names, outputs)
        program_log.info("Logging Trainable: Step %d: %s", step, shown)


@export("contrib.learn.monitors.CaptureVariable")
class CaptureVariable(EveryN):
    """Keeps the values of a variable.

    Args:
      var_name: its name, or a tensor's.
      every_n: how many steps apart.
      first_n: up to which step each step.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by steps."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the variable."""
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Keeps its value."""
        super().every_n_step_end(step, outputs)
        self._var_values[step] = extract_output(outputs, self._var_name)


@export("contrib.learn.monitors.GraphDump")
class GraphDump(BaseMonitor):
    """Keeps the first output of every operation, at every step.

    Args:
      ignore_ops: types of operations that are left out; `IGNORE_OPS` when None.
    """

    IGNORE_OPS = (
        "Const",
        "Assign",
        "Identity",
        "Placeholder",
        "RandomUniform",
        "Cast",
        "RestoreSlice",
    )

    def __init__(self, ignore_ops: Any = None) -> None:
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._data: dict[int, Any] = {}

    def begin(self, max_steps: int | None = None) -> None:
        """Finds the tensors of the graph."""
        super().begin(max_steps=max_steps)
        self._tensors = []
        for op in get_default_graph().get_operations():
            if op.type in self._ignore_ops:
                continue
            program_log.info("op=%s name=%s.", op.type, op.name)
            if op.outputs:
                self._tensors.append(op.outputs[0])

    def step_begin(self, step: int) -> list[Any]:
        """Asks for them."""
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: dict[Any, Any]) -> Any:
        """Keeps them."""
        super().step_end(step, output)
        self._data[step] = output

    @property
    def data(self) -> dict[int, Any]:
        """The values by steps: dicts by tensors or names."""
        return self._data

    def compare(
        self, other_dump: GraphDump, step: int, atol: float = 1e-06
    ) -> tuple[list[str], dict[str, Any]]:
        """Compares a step of two dumps.

        Args:
          other_dump: the other one.
          step: which step.
          atol: how far numbers may be apart.

        Returns:
          The names of what is equal, and what is not: differences of arrays, pairs of
          other values.

        Raises:
          ValueError: the other dump lacks a value.
        """
        equal: list[str] = []
        other: dict[str, Any] = {}
        mine, others = self.data.get(step, {}), other_dump.data.get(step, {})
        for key, value in mine.items():
            if not isinstance(key, str):
                continue
            if key not in others:
                raise ValueError(f"{key} missing at step {step}.")
            found = others[key]
            if isinstance(value, str):
                continue
            if isinstance(value, np.ndarray):
                if np.allclose(value, found, atol=atol):
                    equal.append(key)
                else:
                    other[key] = value - found
            elif value == found:
                equal.append(key)
            else:
                other[key] = (value, found)
        return equal, other


@export(
    "contrib.learn.NanLossDuringTrainingError",
    "contrib.learn.monitors.NanLossDuringTrainingError",
)
class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        """What happened."""
        return "NaN loss during training."


@export("contrib.learn.monitors.NanLoss")
class NanLoss(EveryN):
    """Stops training when the loss is NaN.

    Args:
      loss_tensor: the loss.
      every_n_steps: how many steps apart it is looked at.
      fail_on_nan_loss: whether training fails, or stops.
    """

    def __init__(
        self,
        loss_tensor: Any,
        every_n_steps: int = 100,
        fail_on_nan_loss: bool = True,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the loss."""
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Looks at it.

        Raises:
          NanLossDuringTrainingError: it is NaN, and training is to fail.
        """
        super().every_n_step_end(step, outputs)
        if not np.isnan(extract_output(outputs, self._loss_tensor)):
            return False
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            program_log.error(message)
            raise NanLossDuringTrainingError
        program_log.warning(message)
        return True
