"""Every kernel that claims a GPU, beside the CPU's.

The inputs are those of `tests/peer/ops`: the recorded cases, one for each op and dtype,
and drawn ones of ops that have none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tensorloom as tf
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.worker.compile import memory
from tests.gpu.target import GPU
from tests.peer.ops import batch_runner, compare, harness, spec, table
from tests.peer.ops.draw import Draw

# What a GPU says of itself, and a CPU does not.
_OF_THE_DEVICE = frozenset({"BytesLimit", "BytesInUse", "MaxBytesInUse"})
Case = dict[str, Any]


@dataclass
class Result:
    """What came of some cases."""

    cases: int = 0
    differences: list[str] = field(default_factory=list)
    made: set[str] = field(default_factory=set)  # ops whose GPU kernels were made


def claims() -> set[str]:
    """The ops with a kernel over tensors that is registered for GPUs."""
    op_kernel.load_torch_kernels()
    return {
        op
        for op, kernels in op_kernel._KERNELS.items()
        if any(not k.host and "GPU" in k.devices for k in kernels)
        and op_registry.find(op) is not None
    }


@contextlib.contextmanager
def noting_kernels(made: set[str]) -> Iterator[None]:
    """Adds to `made` the ops whose kernels over tensors are made for a GPU.

    In the block all values go to the GPU that may: small ones too.
    """
    op_kernel.load_torch_kernels()
    before = dict(op_kernel._KERNELS)
    elements = memory.DEVICE_ELEMENTS
    for op, kernels in before.items():
        op_kernel._KERNELS[op] = [
            k if k.host else replace(k, factory=_noting(k.factory, op, made))
            for k in kernels
        ]
    memory.DEVICE_ELEMENTS = -1  # type: ignore[misc]
    try:
        yield
    finally:
        memory.DEVICE_ELEMENTS = elements  # type: ignore[misc]
        op_kernel._KERNELS.update(before)


def _noting(
    factory: op_kernel.KernelFactory, op: str, made: set[str]
) -> op_kernel.KernelFactory:
    def make(c: op_kernel.OpKernelConstruction) -> op_kernel.Compute:
        if c.device_type == "GPU":
            made.add(op)
        return factory(c)

    return make


def families() -> list[Path]:
    """The files of cases."""
    return sorted(table.GOLDENS.glob("*.jsonl.gz"))


def compare_family(
    path: Path, chosen: Callable[[Sequence[Case]], Sequence[Case]] = lambda all: all
) -> Result:
    """Runs the chosen cases of a file on the GPU and on the CPU."""
    found = [g for g in table.read_goldens(path) if g["op"] not in _OF_THE_DEVICE]
    return _compare(chosen(found))


def compare_drawn(ops: Iterable[str]) -> Result:
    """Runs cases of ops that have no recorded one, drawn as for a peer."""
    wanted = sorted(set(ops) - _OF_THE_DEVICE)
    return _compare([case for op in wanted for case in _drawn(op)])


def _drawn(op: str) -> Iterator[Case]:
    one = spec.load().get(op)
    if one is None:
        return
    for name, dtype in one.cells().items():
        program = one.program(Draw(op, name, dtype, 0, 1))
        case = harness.request(harness.Case(name, program, "valid"), one, "none", True)
        if not harness.names_files(case):
            yield {"op": op, "cell": name, "case": case}


def _compare(goldens: Sequence[Case]) -> Result:
    specs = spec.load()
    cases = [golden["case"] for golden in goldens]
    result = Result(len(cases))
    soft = tf.ConfigProto(allow_soft_placement=True)
    with noting_kernels(result.made):
        found = batch_runner.execute(tf, cases, GPU, soft)
    expected = batch_runner.execute(tf, cases)
    for golden, mine, reference in zip(goldens, found, expected, strict=True):
        one = specs[golden["op"]]
        lines = compare.step_differences(mine, reference, one)
        lines += compare.gradient_differences(
            mine["gradient"], reference["gradient"], one
        )
        name = f"{golden['op']} {golden['cell']}"
        result.differences += [f"{name}: {line}" for line in lines]
    return result


def one_of_each_op(goldens: Sequence[Case]) -> list[Case]:
    """The first case of each op, of float32 if there is one."""
    first: dict[str, Case] = {}
    for golden in goldens:
        if golden["op"] not in first or golden["cell"] == "float32":
            first[golden["op"]] = golden
    return list(first.values())
