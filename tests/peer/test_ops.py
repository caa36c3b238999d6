"""Every op with a spec, for every dtype, here and in real TensorFlow.

make test-peer PYTEST_ARGS="tests/peer/test_ops.py -k elementwise"
... --op-examples 20      each op with 20 seeds that hypothesis chooses, not one
... --record-ops          write the data of docs/compatibility.md and the goldens
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.peer.ops import spec as specs
from tests.peer.ops.harness import OpResult, compare_op

if TYPE_CHECKING:
    from tests.peer.ops.op_peer import OpPeer

SPECS = specs.load()
NAMES = [pytest.param(op, id=f"{one.family}-{op}") for op, one in SPECS.items()]


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", NAMES)
def test_op(
    op: str,
    op_peers: dict[str, OpPeer],
    op_results: list[OpResult],
    pytestconfig: pytest.Config,
) -> None:
    spec = SPECS[op]
    peer = op_peers[spec.version or "1.15"]
    if op not in peer.op_names:
        peer = op_peers["2.21"]
    told: list[str] = []
    seeds = pytestconfig.getoption("--op-examples", default=1)

    @settings(
        max_examples=seeds,
        phases=[Phase.explicit, Phase.generate][:seeds],
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @example(seed=0)
    @given(seed=st.integers(1, 2**32))
    def run(seed: int) -> None:
        result = compare_op(spec, peer, seed)
        op_results.append(result)
        told.extend(unexplained(spec, result))

    run()
    assert not told, "\n" + "\n".join(told[:20])


def unexplained(spec: specs.Spec, result: OpResult) -> list[str]:
    """What is wrong and not known to be."""
    told = list(result.problems)
    if not any(cell.kernel and cell.compared for cell in result.cells.values()):
        told.append(f"TensorFlow {result.version} has no kernel for any of the dtypes")
    for name, cell in result.cells.items():
        for aspect, lines in cell.differences.items():
            if not spec.reason(aspect, name):
                told += [f"{spec.op} {name} {aspect}: {line}" for line in lines[:3]]
    return told
