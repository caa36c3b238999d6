"""`ConfigProto`, decoded: what master and worker read of a session's options.

A program that sets no option never loads a protobuf module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import refused_options
from tensorloom.framework.runtime.fences import Fence
from tensorloom.framework.types import dtypes

# Values of RewriterConfig.Toggle; all but `OFF` let a rewrite run.
TOGGLE_DEFAULT: Final = 0
TOGGLE_ON: Final = 1
TOGGLE_OFF: Final = 2

DEFAULT_MAX_FOLDED_BYTES: Final = 10 * 1024 * 1024

# Values of RewriterConfig.MemOptType: MANUAL; HEURISTICS, RECOMPUTATION_HEURISTICS.
_MANUAL: Final = 2
_RECOMPUTATION: Final = (3, 5)

# Fields of RewriterConfig that are toggles.
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
# What RewriterConfig.optimizers calls the rewrites of a toggle, if not as the toggle.
_OPTIMIZERS: Final = {
    "arithmetic": "arithmetic_optimization",
    "constfold": "constant_folding",
    "dependency": "dependency_optimization",
    "function": "function_optimization",
    "layout": "layout_optimizer",
    "loop": "loop_optimization",
    "pin_to_host": "pin_to_host_optimization",
    "remap": "remapping",
    "scoped_allocator": "scoped_allocator_optimization",
    "shape": "shape_optimization",
}


@dataclass(frozen=True, slots=True)
class OptimizerConfig:
    """Which graph passes run, by `GraphOptions`' two messages about them."""

    #: False for opt_level L0: no pass runs.
    enabled: bool = True
    do_common_subexpression_elimination: bool = True
    do_constant_folding: bool = True
    do_function_inlining: bool = True
    #: OptimizerOptions.global_jit_level: what no program marked is compiled, too.
    compiles_all: bool = False
    #: A folded constant may be at most this large.
    max_folded_constant_bytes: int = DEFAULT_MAX_FOLDED_BYTES
    #: RewriterConfig.disable_meta_optimizer.
    disable_rewrites: bool = False
    #: RewriterConfig toggles that are set, by field name.
    toggles: Mapping[str, int] = field(default_factory=dict)
    #: RewriterConfig.custom_optimizers: passes of the program, run after ours.
    custom_passes: tuple[str, ...] = ()
    #: RewriterConfig.optimizers: the toggles of the only rewrites that run, and names
    #: that are not ours; empty: all run.
    only: frozenset[str] = frozenset()
    #: RewriterConfig.memory_optimization: whether marked operations are computed again
    #: for gradients, whether cheap ones are, too, and the scope of gradients' names.
    recomputes: bool = False
    recomputes_cheap: bool = False
    recomputation_scope: str = ""

    def allows(self, toggle: str) -> bool:
        """Whether the rewrite of that toggle may run (all do by default)."""
        return (
            self.enabled
            and not self.disable_rewrites
            and (not self.only or toggle in self.only)
            and self.toggles.get(toggle, TOGGLE_DEFAULT) != TOGGLE_OFF
        )


_BFLOAT16: Final = {dtypes.float32: dtypes.bfloat16}
#: TensorFlow's ways to run a graph.
EXECUTOR_TYPES: Final = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """The options of a session."""

    #: The most devices of a type, e.g. {"CPU": 2}.
    device_count: Mapping[str, int] = field(default_factory=dict)
    #: Whether an op goes to another device type when the wanted one cannot run it.
    allow_soft_placement: bool = False
    log_device_placement: bool = False
    #: For steps that name no timeout; None: no limit.
    operation_timeout_s: float | None = None
    #: Threads of one op, and of ops beside each other; 0: as the system thinks best.
    intra_op_parallelism_threads: int = 0
    inter_op_parallelism_threads: int = 0
    use_per_session_threads: bool = False
    #: One of `EXECUTOR_TYPES`; steps are run in the same way for all of them.
    executor_type: str = ""
    #: The task that leads the groups of collectives; "": none was named.
    collective_group_leader: str = ""
    #: How many pools a step may choose from; all are the same threads here.
    thread_pools: int = 0
    #: Whether variables are the session's own, not shared through the worker.
    isolate_session_state: bool = False
    #: Regular expressions of the devices that the session may see; empty: all.
    device_filters: tuple[str, ...] = ()
    #: `GPUOptions` that a device factory reads.
    gpu_visible_device_list: str = ""
    gpu_allow_growth: bool = False
    gpu_memory_fraction: float = 0.0
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    #: GraphOptions.build_cost_model: steps between cost graphs in RunMetadata; 0: none.
    build_cost_model: int = 0
    #: GraphOptions.build_cost_model_after: how many steps come before these.
    build_cost_model_after: int = 0
    #: Whether the graph may not grow once the session has run.
    is_static: bool = False
    #: Name and version of the session among those of its process; None: it has none.
    metadata: tuple[str, int] | None = None
    place_pruned_graph: bool = False
    #: The lock that the session's process holds; None: it says of none.
    fence: Fence | None = None
    #: GraphOptions.enable_bfloat16_sendrecv: by dtype, what travels between tasks.
    sends_as: dict[dtypes.DType, dtypes.DType] = field(default_factory=dict)
    #: The `ClusterDef` of a cluster that the client makes; None: the server's own.
    cluster_def: Any = None
    #: The message itself, for a master elsewhere; None when no option was given.
    proto: Any = None

    def over(self, config: SessionConfig) -> SessionConfig:
        """Another session's options, but for those that are set here."""
        if self.proto is None:
            return config
        merged = type(self.proto)()
        if config.proto is not None:
            merged.ParseFromString(config.proto.SerializeToString())
        merged.MergeFrom(self.proto)
        return from_proto(merged)

    def device_options(self) -> dict[str, Any]:
        """What `devices.make_devices` takes as options."""
        return {
            "visible_device_list": self.gpu_visible_device_list,
            "allow_growth": self.gpu_allow_growth,
            "memory_fraction": self.gpu_memory_fraction,
        }


DEFAULT: Final = SessionConfig()


def check_executor_type(name: str) -> None:
    """Raises errors.NotFoundError unless it is one of `EXECUTOR_TYPES`."""
    if name not in EXECUTOR_TYPES:
        raise errors.NotFoundError(
            None,
            None,
            f"No executor factory registered for the given executor type: {name}. "
            f"Known are {', '.join(repr(known) for known in EXECUTOR_TYPES)}",
        )


def from_proto(config: Any) -> SessionConfig:
    """Decodes a `ConfigProto`; None gives the defaults.

    Raises:
      errors.UnimplementedError: an option is set that is not supported.
    """
    if config is None:
        return DEFAULT
    refused_options.check(config)
    timeout_ms = config.operation_timeout_in_ms
    gpu = config.gpu_options
    makes_cluster = bool(config.cluster_def.job)
    shares_state = config.experimental.share_session_state_in_clusterspec_propagation
    return SessionConfig(
        device_count=dict(config.device_count),
        allow_soft_placement=config.allow_soft_placement,
        log_device_placement=config.log_device_placement,
        operation_timeout_s=timeout_ms / 1000 if timeout_ms > 0 else None,
        intra_op_parallelism_threads=config.intra_op_parallelism_threads,
        inter_op_parallelism_threads=config.inter_op_parallelism_threads,
        use_per_session_threads=config.use_per_session_threads,
        executor_type=config.experimental.executor_type,
        collective_group_leader=config.experimental.collective_group_leader,
        thread_pools=len(config.session_inter_op_thread_pool),
        # What a client makes a cluster for is its session's alone, unless it says so.
        isolate_session_state=config.isolate_session_state
        or (makes_cluster and not shares_state),
        cluster_def=config.cluster_def if makes_cluster else None,
        device_filters=tuple(config.device_filters),
        gpu_visible_device_list=gpu.visible_device_list,
        gpu_allow_growth=gpu.allow_growth,
        gpu_memory_fraction=gpu.per_process_gpu_memory_fraction,
        optimizer=_decode_optimizer(config.graph_options),
        build_cost_model=config.graph_options.build_cost_model,
        build_cost_model_after=config.graph_options.build_cost_model_after,
        is_static=config.experimental.optimize_for_static_graph,
        metadata=_metadata(config.experimental),
        place_pruned_graph=config.graph_options.place_pruned_graph,
        fence=fence_of(config.experimental),
        sends_as=_BFLOAT16 if config.graph_options.enable_bfloat16_sendrecv else {},
        proto=config,
    )


def fence_of(message: Any) -> Fence | None:
    """The `SessionFence` of a message, decoded."""
    if not message.HasField("fence"):
        return None
    fence = message.fence
    return Fence(fence.scope, fence.token, fence.owner, fence.holder)


def _metadata(experimental: Any) -> tuple[str, int] | None:
    if not experimental.HasField("session_metadata"):
        return None
    metadata = experimental.session_metadata
    return metadata.name, metadata.version


def _decode_optimizer(graph_options: Any) -> OptimizerConfig:
    options = graph_options.optimizer_options
    rewrites = graph_options.rewrite_options
    enabled = options.opt_level != -1  # L0
    # TensorFlow's do_* fields add passes to those of the level, and L1, the default
    # level, has them all: so only L0 makes a difference.
    return OptimizerConfig(
        enabled=enabled,
        do_common_subexpression_elimination=(
            enabled or options.do_common_subexpression_elimination
        ),
        do_constant_folding=enabled or options.do_constant_folding,
        do_function_inlining=enabled or options.do_function_inlining,
        compiles_all=options.global_jit_level > 0,  # ON_1 or ON_2
        max_folded_constant_bytes=(
            options.max_folded_constant_in_bytes or DEFAULT_MAX_FOLDED_BYTES
        ),
        disable_rewrites=rewrites.disable_meta_optimizer,
        toggles={
            name: getattr(rewrites, name)
            for name in _TOGGLES
            if getattr(rewrites, name, TOGGLE_DEFAULT) != TOGGLE_DEFAULT
        },
        custom_passes=tuple([custom.name for custom in rewrites.custom_optimizers]),
        only=frozenset(_OPTIMIZERS.get(name, name) for name in rewrites.optimizers),
        recomputes=(
            "memory" in rewrites.optimizers
            if rewrites.optimizers
            else rewrites.memory_optimization in (_MANUAL, *_RECOMPUTATION)
        ),
        recomputes_cheap=(
            rewrites.memory_optimization in _RECOMPUTATION and not rewrites.optimizers
        ),
        recomputation_scope=rewrites.memory_optimizer_target_node_name_scope,
    )
