"""`tf.data.Options`: how a pipeline is optimized, threaded and distributed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op


class _Option(property):
    """One option as an attribute.

    Args:
      kind: type, or types, of its values; None where the class says it.
      default: makes the value where none is said.
    """

    def __init__(
        self, name: str, kind: Any = None, default: Any = None, doc: str | None = None
    ) -> None:
        super().__init__(lambda options: options.value_of(name))
        self.__doc__ = doc
        self.kind = kind
        self.default = default


class OptionsBase:
    """Named options with types; None is "not said"."""

    _types: ClassVar[dict[str, Any]] = {}
    _defaults: ClassVar[dict[str, Any]] = {}
    _values: dict[str, Any]

    def __init_subclass__(cls) -> None:
        made = {n: o for n, o in vars(cls).items() if isinstance(o, _Option)}
        cls._types = {**cls._types, **{name: made[name].kind for name in made}}
        cls._defaults = {**cls._defaults, **{name: made[name].default for name in made}}
        for name in cls._types:
            if name not in made:
                setattr(cls, name, _Option(name))

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def value_of(self, name: str) -> Any:
        """What is said of an option; its default, which is kept, where nothing is."""
        if name not in self._values:
            default = type(self)._defaults.get(name)
            made = default() if callable(default) else default
            self._values[name] = made
        return self._values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an option.

        Raises:
          AttributeError: there is none of that name.
          TypeError: the value is of another type.
        """
        kind = type(self)._types.get(name)
        if kind is None:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}."
            )
        if value is not None and not isinstance(value, kind):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value!r} (type: '
                f"{type(value)})"
            )
        self._values[name] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and all(
            getattr(self, name) == getattr(other, name) for name in self._types
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def merge(self, options: Any) -> Any:
        """New options: what is said here and there.

        Raises:
          TypeError: the options are of another kind.
          ValueError: the two say different things.
        """
        if not isinstance(options, type(self)):
            raise TypeError(f"Cannot merge options of type {type(options)}")
        merged = type(self)()
        for part in (self, options):
            for name in self._types:
                _merge_one(merged, name, getattr(part, name))
        return merged


def create_option(
    name: str, ty: Any, docstring: str, default_factory: Callable[[], Any] | None = None
) -> Any:
    """An option of a class of your own, below `OptionsBase`.

    Args:
      ty: type, or types, of its values.
      default_factory: makes the value where none is said; None by default.
    """
    return _Option(name, ty, default_factory, docstring)


def merge_options(*options_list: Any) -> Any:
    """New options: what all of them say.

    Raises:
      ValueError: there are none, or two say different things.
      TypeError: they are of different classes, or no options.
    """
    if not options_list:
        raise ValueError("At least one options should be provided")
    if not isinstance(options_list[0], OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    merged = type(options_list[0])()
    for options in options_list:
        merged = merged.merge(options)
    return merged


def _merge_one(merged: OptionsBase, name: str, value: Any) -> None:
    current = getattr(merged, name)
    default = type(merged)().value_of(name)
    if isinstance(value, OptionsBase) and isinstance(current, OptionsBase):
        setattr(merged, name, current.merge(value))
    elif value is None or value == default:
        return
    elif current is None or current == default:
        setattr(merged, name, value)
    elif current != value:
        raise ValueError(
            f"Cannot merge incompatible values ({current} and {value}) of option: "
            f"{name}"
        )


@export("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(OptionsBase):
    """Options of vectorizing maps."""

    _types: ClassVar[dict[str, Any]] = {"enabled": bool, "use_choose_fastest": bool}


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Which optimizations to apply.

    `map_and_batch_fusion`, `shuffle_and_repeat_fusion`, `noop_elimination` and
    `map_parallelization` rewrite the pipeline. The other ones of TensorFlow 1.15 are
    taken, and change nothing: its results are the same with them.
    `filter_with_random_uniform_fusion` is refused when the pipeline is made, as there.
    Threads and buffers are chosen while it runs, whatever `autotune` says.
    """

    _types: ClassVar[dict[str, Any]] = {
        "apply_default_optimizations": bool,
        "autotune": bool,
        "autotune_algorithm": int,
        "autotune_buffers": bool,
        "autotune_cpu_budget": int,
        "filter_fusion": bool,
        "filter_with_random_uniform_fusion": bool,
        "hoist_random_uniform": bool,
        "map_and_batch_fusion": bool,
        "map_and_filter_fusion": bool,
        "map_fusion": bool,
        "map_parallelization": bool,
        "map_vectorization": MapVectorizationOptions,
        "noop_elimination": bool,
        "parallel_batch": bool,
        "shuffle_and_repeat_fusion": bool,
    }
    _defaults: ClassVar[dict[str, Any]] = {"map_vectorization": MapVectorizationOptions}

    def _static_optimizations(self) -> list[str]:
        """The names of the optimizations that OptimizeDataset gets."""
        use_defaults = self.apply_default_optimizations is not False
        found = []
        for name in sorted(_SWITCHED):
            chosen = getattr(self, name)
            if chosen or (chosen is None and use_defaults and name in _DEFAULT):
                found.append(name)
        if self.autotune is not False and self.autotune_buffers:
            found.append("inject_prefetch")
        if self.map_vectorization.enabled:
            found.append("map_vectorization")
        return sorted(found)

    def _static_optimization_configs(self) -> list[str]:
        """What OptimizeDataset gets to know about them."""
        fastest = "true" if self.map_vectorization.use_choose_fastest else "false"
        return [f"map_vectorization:use_choose_fastest:{fastest}"]


_DEFAULT = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")
_SWITCHED = (
    *_DEFAULT,
    "filter_fusion",
    "filter_with_random_uniform_fusion",
    "hoist_random_uniform",
    "map_and_filter_fusion",
    "map_fusion",
    "map_parallelization",
    "parallel_batch",
)


@export("data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """How many threads.

    `private_threadpool_size` (1 or more): functions that a transformation runs at a
    time. `max_intra_op_parallelism` (0: any number): threads of an operation in a
    function of the pipeline.
    """

    _types: ClassVar[dict[str, Any]] = {
        "max_intra_op_parallelism": int,
        "private_threadpool_size": int,
    }


@export("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """How a dataset is divided among workers."""

    _types: ClassVar[dict[str, Any]] = {"auto_shard": bool, "num_devices": int}
    _defaults: ClassVar[dict[str, Any]] = {"auto_shard": True}


@export("data.experimental.StatsAggregator")
class StatsAggregatorV1:
    """Where statistics of datasets come together.

    Say it in `StatsOptions.aggregator`, and measure with `latency_stats` and
    `bytes_produced_stats`.
    """

    def __init__(self) -> None:
        self._resource = apply_op("StatsAggregatorHandle")

    def get_summary(self) -> Any:
        """What was measured so far, a serialized Summary in a string scalar."""
        return apply_op("StatsAggregatorSummary", iterator=self._resource)


@export("data.experimental.StatsOptions")
class StatsOptions(OptionsBase):
    """What is measured."""

    _types: ClassVar[dict[str, Any]] = {
        "aggregator": StatsAggregatorV1,
        "prefix": str,
        "counter_prefix": str,
        "latency_all_edges": bool,
    }
    _defaults: ClassVar[dict[str, Any]] = {"prefix": "", "counter_prefix": ""}


@export("data.Options")
class Options(OptionsBase):
    """The options of a dataset, set with `Dataset.with_options`."""

    _types: ClassVar[dict[str, Any]] = {
        "experimental_deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_slack": bool,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
        "experimental_stateful_whitelist": list,
    }
    _defaults: ClassVar[dict[str, Any]] = {
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
    }

    def _static_optimizations(self) -> list[str]:
        """The names of the optimizations that OptimizeDataset gets."""
        found: list[str] = self.experimental_optimization._static_optimizations()
        if self.experimental_deterministic is False:
            found.append("make_sloppy")
        if self.experimental_slack:
            found.append("slack")
        if self.experimental_stats.latency_all_edges:
            found.append("latency_all_edges")
        return found

    def _static_optimization_configs(self) -> list[str]:
        """The settings of these optimizations."""
        found: list[str] = self.experimental_optimization._static_optimization_configs()
        return found
