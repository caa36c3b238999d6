"""What `tf.config` sets, as the `ConfigProto` of sessions that are given none.

The facts are those of TensorFlow 1.15's `tensorflow/python/eager/context.py`: devices,
threads and placement are settled once the logical devices were listed; a session does
not settle them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.protos.config_pb2 import ConfigProto

# Options of RewriterConfig that are on, off or as usual, and those that are a bool.
_TOGGLES: Final = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
)
_SWITCHES: Final = ("disable_model_pruning", "disable_meta_optimizer")


class PhysicalDevice(NamedTuple):
    """A device of this machine: `name` is "/physical_device:CPU:0"."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that nodes can be placed on; `name` is its full name."""

    name: str
    device_type: str


class _VirtualDevice(NamedTuple):
    memory_limit: float | None = None


@export("config.experimental.VirtualDeviceConfiguration")
class VirtualDeviceConfiguration(_VirtualDevice):
    """A part of a physical device; `memory_limit` in megabytes, for GPUs only."""

    __slots__ = ()


@dataclass
class ProcessSettings:
    """What was set so far; None is "as usual"."""

    soft_device_placement: bool | None = None
    log_device_placement: bool = False
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    jit: bool | None = None
    optimizer_options: dict[str, Any] = field(default_factory=dict)
    device_policy: str = "silent"
    synchronous: bool = True
    # Devices that are in use, where that was said; all others are.
    visible: list[PhysicalDevice] | None = None
    virtual: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = field(
        default_factory=dict
    )
    memory_growth: dict[PhysicalDevice, bool] = field(default_factory=dict)
    # Whether the logical devices exist, so that they cannot change any more.
    settled: bool = False

    def require_unsettled(self, message: str) -> None:
        """Raises RuntimeError once the devices are settled."""
        if self.settled:
            raise RuntimeError(message)

    def session_config(self) -> ConfigProto | None:
        """The config of a session that is given none; None where nothing was set."""
        if self == ProcessSettings(
            device_policy=self.device_policy,
            synchronous=self.synchronous,
            settled=self.settled,
        ):
            return None
        return self.as_proto()

    def as_proto(self) -> ConfigProto:
        """What was set, as a `ConfigProto`."""
        from tensorloom.protos.config_pb2 import ConfigProto, OptimizerOptions

        config = ConfigProto()
        config.allow_soft_placement = bool(self.soft_device_placement)
        config.log_device_placement = self.log_device_placement
        config.intra_op_parallelism_threads = self.intra_op_threads or 0
        config.inter_op_parallelism_threads = self.inter_op_threads or 0
        if self.jit is not None:
            level = OptimizerOptions.ON_1 if self.jit else OptimizerOptions.OFF
            config.graph_options.optimizer_options.global_jit_level = level
        self._add_optimizer_options(config)
        self._add_devices(config)
        return config

    def _add_optimizer_options(self, config: ConfigProto) -> None:
        from tensorloom.protos.rewriter_config_pb2 import RewriterConfig

        rewriting = config.graph_options.rewrite_options
        given = self.optimizer_options
        for name in _TOGGLES:
            if given.get(name) is not None:
                toggle = RewriterConfig.ON if given[name] else RewriterConfig.OFF
                setattr(rewriting, name, toggle)
        for name in _SWITCHES:
            if given.get(name) is not None:
                setattr(rewriting, name, given[name])
        if given.get("min_graph_nodes") is not None:
            rewriting.min_graph_nodes = given["min_graph_nodes"]

    def _add_devices(self, config: ConfigProto) -> None:
        visible = self.visible
        for device, parts in self.virtual.items():
            if device.device_type == "CPU" and (visible is None or device in visible):
                config.device_count["CPU"] = len(parts)
        if visible is not None:
            gpus = [d.name.rpartition(":")[2] for d in visible if _is_gpu(d)]
            config.device_count["GPU"] = len(gpus)
            config.gpu_options.visible_device_list = ",".join(gpus)
            if not any(device.device_type == "CPU" for device in visible):
                config.device_count["CPU"] = 0
        config.gpu_options.allow_growth = any(self.memory_growth.values())
        for device, parts in self.virtual.items():
            if _is_gpu(device):
                part = config.gpu_options.experimental.virtual_devices.add()
                part.memory_limit_mb.extend(p.memory_limit or 0 for p in parts)

    def effective_optimizer_options(self) -> dict[str, Any]:
        """The options of the optimizer that are not as usual, and the switches."""
        from tensorloom.protos.rewriter_config_pb2 import RewriterConfig

        rewriting = self.as_proto().graph_options.rewrite_options
        found = {
            name: getattr(rewriting, name) == RewriterConfig.ON
            for name in _TOGGLES
            if getattr(rewriting, name)
        }
        found |= {name: getattr(rewriting, name) for name in _SWITCHES}
        if rewriting.min_graph_nodes:
            found["min_graph_nodes"] = rewriting.min_graph_nodes
        return found


def _is_gpu(device: PhysicalDevice) -> bool:
    return device.device_type == "GPU"


SETTINGS: Final = ProcessSettings()
