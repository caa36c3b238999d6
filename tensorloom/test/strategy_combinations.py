"""Strategies as options of `combined_tests.generate`, and what devices they need."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.client.settings import devices
from tensorloom.client.settings.process_settings import VirtualDeviceConfiguration
from tensorloom.compat.internals.execution import num_gpus
from tensorloom.distribute.strategies.default_strategy import default_strategy as _plain
from tensorloom.distribute.strategies.mirrored import MirroredStrategy
from tensorloom.distribute.strategies.one_device import OneDeviceStrategy
from tensorloom.distribute.strategies.parameter_server import CentralStorageStrategy
from tensorloom.test import combined_tests
from tensorloom.test.combinations import combine
from tensorloom.test.combined_tests import (
    GRAPH_TESTS,
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
)
from tensorloom.train.optimizers.adagrad import AdagradOptimizer
from tensorloom.train.optimizers.adam import AdamOptimizer
from tensorloom.train.optimizers.gradient_descent import GradientDescentOptimizer
from tensorloom.train.optimizers.rmsprop import RMSPropOptimizer

_Combinations = list[OrderedDict[str, Any]]


class NamedDistribution:
    """A strategy by name, made when a test asks for it.

    Args:
      name: what tests are called after.
      distribution_fn: makes the strategy.
      required_gpus: how many GPUs it needs.
      required_tpu: whether it needs a TPU.
    """

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
    ) -> None:
        self._name = name
        self._make = distribution_fn
        self.required_gpus = required_gpus
        self.required_tpu = required_tpu

    @property
    def strategy(self) -> Any:
        """A new strategy."""
        return self._make()

    def __repr__(self) -> str:
        return self._name


class DistributionParameter(ParameterModifier):
    """Gives tests the strategy instead of the `NamedDistribution`."""

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        """The strategies among the options."""
        return {
            name: value.strategy
            for name, value in kwargs.items()
            if isinstance(value, NamedDistribution)
        }


class NamedGPUCombination(TestCombination):
    """Skips tests that need more GPUs than there are.

    How many a test needs is said by its option `required_gpus` or by its strategies.
    """

    def should_execute_combination(
        self, kwargs: dict[str, Any]
    ) -> tuple[bool, str | None]:
        """Whether there are as many. Raises ValueError for both ways of saying it."""
        required = _required(kwargs, "required_gpus", "required_gpus")
        present = num_gpus()
        if present < required:
            return False, f"Only {present} of {required} required GPUs are available."
        return True, None

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        """Tests need no parameter for the option."""
        return [OptionalParameter("required_gpus")]


class NamedTPUCombination(TestCombination):
    """Skips tests that need a TPU, by their options or strategies: there is none."""

    def should_execute_combination(
        self, kwargs: dict[str, Any]
    ) -> tuple[bool, str | None]:
        """Whether none is needed. Raises ValueError for both ways of saying it."""
        options = [name for name in ("required_tpus", "required_tpu") if name in kwargs]
        if len(options) > 1:
            raise ValueError(
                "Do not use `required_tpu`.  Both `required_tpus` and `required_tpu` "
                "were specified."
            )
        option = options[0] if options else "required_tpus"
        if _required(kwargs, option, "required_tpu"):
            return False, "Test requires a TPU, but it's not available."
        return True, None

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        """Tests need no parameter for the options."""
        return [OptionalParameter("required_tpus"), OptionalParameter("required_tpu")]


def _required(kwargs: dict[str, Any], option: str, attribute: str) -> int:
    strategies = [v for v in kwargs.values() if isinstance(v, NamedDistribution)]
    said = kwargs.get(option)
    if strategies and said:
        raise ValueError(
            f"Do not use `{option}` and arguments of type NamedDistribution together."
        )
    needs = [getattr(each, attribute) for each in strategies]
    return max(int(need or 0) for need in [said, *needs])


class GPUCombination(NamedGPUCombination):
    """`NamedGPUCombination` that gives tests the strategies."""

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        """Tests get strategies, and need no parameter for the option."""
        return [DistributionParameter(), *super().parameter_modifiers()]


class TPUCombination(NamedTPUCombination):
    """`NamedTPUCombination` that gives tests the strategies."""

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        """Tests get strategies, and need no parameter for the options."""
        return [DistributionParameter(), *super().parameter_modifiers()]


generate: Final = functools.partial(
    combined_tests.generate,
    test_combinations=(*GRAPH_TESTS, GPUCombination(), TPUCombination()),
)


def _on(kind: Callable[[Any], Any], where: Any) -> Callable[[], Any]:
    return functools.partial(kind, where)


def _no_tpu() -> Any:
    raise NotImplementedError("tensorloom has no TPU strategy")


_WORKER_1: Final = "/job:worker/replica:0/task:1"

default_strategy: Final = NamedDistribution("Default", _plain)
one_device_strategy: Final = NamedDistribution(
    "OneDeviceCPU", _on(OneDeviceStrategy, "/cpu:0")
)
one_device_strategy_gpu: Final = NamedDistribution(
    "OneDeviceGPU", _on(OneDeviceStrategy, "/gpu:0"), required_gpus=1
)
one_device_strategy_on_worker_1: Final = NamedDistribution(
    "OneDeviceOnWorker1CPU", _on(OneDeviceStrategy, f"{_WORKER_1}/cpu:0")
)
one_device_strategy_gpu_on_worker_1: Final = NamedDistribution(
    "OneDeviceOnWorker1GPU",
    _on(OneDeviceStrategy, f"{_WORKER_1}/gpu:0"),
    required_gpus=1,
)
tpu_strategy: Final = NamedDistribution("TPU", _no_tpu, required_tpu=True)
tpu_strategy_one_step: Final = NamedDistribution(
    "TPUOneStep", _no_tpu, required_tpu=True
)
tpu_strategy_one_core: Final = NamedDistribution(
    "TPUOneCore", _no_tpu, required_tpu=True
)
tpu_strategy_one_step_one_core: Final = NamedDistribution(
    "TPUOneStepOneCore", _no_tpu, required_tpu=True
)
mirrored_strategy_with_one_cpu: Final = NamedDistribution(
    "Mirrored1CPU", _on(MirroredStrategy, ["/cpu:0"])
)
mirrored_strategy_with_one_gpu: Final = NamedDistribution(
    "Mirrored1GPU", _on(MirroredStrategy, ["/gpu:0"]), required_gpus=1
)
mirrored_strategy_with_gpu_and_cpu: Final = NamedDistribution(
    "MirroredCPUAndGPU", _on(MirroredStrategy, ["/gpu:0", "/cpu:0"]), required_gpus=1
)
mirrored_strategy_with_two_gpus: Final = NamedDistribution(
    "Mirrored2GPUs", _on(MirroredStrategy, ["/gpu:0", "/gpu:1"]), required_gpus=2
)
# Tests with it call `set_virtual_cpus_to_at_least(3)` before.
mirrored_strategy_with_cpu_1_and_2: Final = NamedDistribution(
    "Mirrored2CPU", _on(MirroredStrategy, ["/cpu:1", "/cpu:2"])
)
central_storage_strategy_with_two_gpus: Final = NamedDistribution(
    "CentralStorage2GPUs",
    _on(CentralStorageStrategy, ["/gpu:0", "/gpu:1"]),
    required_gpus=2,
)
central_storage_strategy_with_gpu_and_cpu: Final = NamedDistribution(
    "CentralStorageCPUAndGPU",
    _on(CentralStorageStrategy, ["/gpu:0", "/cpu:0"]),
    required_gpus=1,
)

gradient_descent_optimizer_v1_fn: Final = NamedObject(
    "GradientDescentV1", lambda: GradientDescentOptimizer(0.2)
)
adagrad_optimizer_v1_fn: Final = NamedObject(
    "AdagradV1", lambda: AdagradOptimizer(0.001)
)
adam_optimizer_v1_fn: Final = NamedObject(
    "AdamV1", lambda: AdamOptimizer(0.001, epsilon=1)
)
rmsprop_optimizer_v1_fn: Final = NamedObject(
    "RmsPropV1", lambda: RMSPropOptimizer(0.001)
)
optimizers_v1: Final = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]

graph_and_eager_modes: Final = ["graph", "eager"]

strategies_minus_tpu: Final = [
    default_strategy,
    one_device_strategy,
    one_device_strategy_gpu,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
tpu_strategies: Final = [tpu_strategy, tpu_strategy_one_step]


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Divides the CPU into as many devices, if it is not divided yet.

    Raises:
      ValueError: the number is not positive.
      RuntimeError: it is divided into fewer.
    """
    if num_virtual_cpus < 1:
        raise ValueError(
            f"`num_virtual_cpus` must be at least 1 not {num_virtual_cpus!r}"
        )
    (cpu,) = devices.list_physical_devices("CPU")
    parts = devices.get_virtual_device_configuration(cpu)
    if parts is None:
        parts = [VirtualDeviceConfiguration() for _ in range(num_virtual_cpus)]
        devices.set_virtual_device_configuration(cpu, parts)
    elif len(parts) < num_virtual_cpus:
        raise RuntimeError(
            f"Already configured with {len(parts)} < {num_virtual_cpus} virtual CPUs"
        )


def distributions_and_v1_optimizers() -> _Combinations:
    """Strategies of one device and of replicas, with the optimizers of version 1."""
    strategies = [
        one_device_strategy,
        mirrored_strategy_with_gpu_and_cpu,
        mirrored_strategy_with_two_gpus,
    ]
    return combine(distribution=strategies, optimizer_fn=optimizers_v1)


def strategy_minus_tpu_combinations() -> _Combinations:
    """All strategies but those of TPUs."""
    return combine(distribution=strategies_minus_tpu, mode=["graph", "eager"])


def tpu_strategy_combinations() -> _Combinations:
    """The strategies of TPUs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> _Combinations:
    """All strategies."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> _Combinations:
    """The strategies that were chosen on purpose, on CPUs and GPUs."""
    return combine(distribution=strategies_minus_tpu[1:], mode=["graph", "eager"])


def all_strategy_combinations_minus_default() -> _Combinations:
    """The strategies that were chosen on purpose."""
    chosen = all_strategy_minus_default_and_tpu_combinations()
    return chosen + tpu_strategy_combinations()
