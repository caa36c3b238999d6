"""What datasets of the second version keep outside of their iterators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.data.pipeline.buffering import MemoryCache
from tensorloom.kernels.host.data.pipeline.shuffle import FixedSeeds, SeedGenerator
from tensorloom.kernels.host.data.pipeline.sources import drawn_seeds

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("AnonymousMemoryCache", devices=("CPU",), large=True)
def anonymous_memory_cache(c: OpKernelConstruction) -> Compute:
    """An empty cache, twice: it needs no other deleter than its last reader."""
    return lambda: (made := MemoryCache(), made)


@host_kernel("AnonymousRandomSeedGenerator", devices=("CPU",), large=True)
def anonymous_random_seed_generator(c: OpKernelConstruction) -> Compute:
    """A source of seeds, twice."""

    def compute(seed: Any, seed2: Any) -> tuple[SeedGenerator, SeedGenerator]:
        made = SeedGenerator(int(seed), int(seed2))
        return made, made

    return compute


@host_kernel("AnonymousSeedGenerator", devices=("CPU",), large=True)
def anonymous_seed_generator(c: OpKernelConstruction) -> Compute:
    """A source of seeds, twice; always of the same ones if nothing is reshuffled."""

    def compute(
        seed: Any, seed2: Any, reshuffle: Any
    ) -> tuple[SeedGenerator, SeedGenerator]:
        kind = SeedGenerator if reshuffle else FixedSeeds
        made = kind(*drawn_seeds(int(seed), int(seed2)))
        return made, made

    return compute


@host_kernel(
    ["DummyIterationCounter", "DummyMemoryCache", "DummySeedGenerator"],
    devices=("CPU",),
    large=True,
)
def dummy_dataset_state(c: OpKernelConstruction) -> Callable[[], Any]:
    """A resource of no use: a dataset that gets it makes the state that it needs."""
    dummy = Resource("", "dummy_resource")
    return lambda: dummy


@host_kernel(
    ["DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator"],
    devices=("CPU",),
    large=True,
)
def delete_dataset_state(c: OpKernelConstruction) -> Callable[[Any, Any], None]:
    """Nothing is left to do: the state goes with those who hold it."""
    return lambda handle, deleter: None
