"""How many threads a pipeline uses: pools of its own, and threads inside operations.

Transformations here have threads of their own, which they start once elements prove
slow. The size of a pool limits how many functions each of them runs at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.control_flow.waiting import node_resource
from tensorloom.kernels.host.data.pipeline.dataset import (
    BranchIterator,
    Dataset,
    DatasetIterator,
    as_dataset,
    dataset_kernel,
    like,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment


class ThreadPool(Resource):
    """How many threads a program asked for."""

    def __init__(
        self, container: str, name: str, threads: int, intra_op_threads: int
    ) -> None:
        super().__init__(container, name)
        self.threads, self.intra_op_threads = threads, intra_op_threads


@host_kernel(["ThreadPoolHandle", "ExperimentalThreadPoolHandle"], large=True)
def thread_pool_handle(c: OpKernelConstruction) -> Compute:
    """The thread pool of this node, or of its shared name."""
    threads, intra_op = c["num_threads"], c["max_intra_op_parallelism"]
    if threads < 1:
        raise invalid_argument(
            f"`num_threads` must be greater than zero, got {threads}."
        )
    return node_resource(
        c, ThreadPool, lambda place, name: ThreadPool(place, name, threads, intra_op)
    )


class _LimitedDataset(Dataset):
    """The elements, made by at most so many threads; 0 is any number."""

    keeps_elements = True

    def __init__(self, source: Dataset, threads: int, intra_op_threads: int) -> None:
        super().__init__(*like(source))
        self._limits = threads, intra_op_threads

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        inner = env.branch()
        inner.limit_threads(*self._limits)
        return BranchIterator(self.inputs[0].iterate(inner), env, inner)


@dataset_kernel("PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset")
def private_thread_pool_dataset(c: OpKernelConstruction) -> Compute:
    """The elements; each transformation runs at most so many functions at a time."""

    def compute(source: Any, threads: Any) -> Dataset:
        if threads < 1:
            raise invalid_argument("`num_threads` must be >= 1")
        return _LimitedDataset(as_dataset(source), int(threads), 0)

    return compute


@dataset_kernel(
    "MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset"
)
def max_intra_op_parallelism_dataset(c: OpKernelConstruction) -> Compute:
    """The elements; an operation of a function uses at most so many threads."""

    def compute(source: Any, threads: Any) -> Dataset:
        if threads < 0:
            raise invalid_argument("`max_intra_op_parallelism` must be >= 0")
        return _LimitedDataset(as_dataset(source), 0, int(threads))

    return compute


@dataset_kernel("ThreadPoolDataset", "ExperimentalThreadPoolDataset")
def thread_pool_dataset(c: OpKernelConstruction) -> Compute:
    """The elements, within the limits of a thread pool."""

    def compute(source: Any, pool: Any) -> Dataset:
        if not isinstance(pool, ThreadPool):
            raise invalid_argument("Trying to access a handle that is no ThreadPool.")
        return _LimitedDataset(as_dataset(source), pool.threads, pool.intra_op_threads)

    return compute
