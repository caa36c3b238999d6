"""Networks that are cut and healed, between tasks on the framed socket over TCP."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import networks

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ["ps_cut", "worker_cut", "client_cut", "cut_in_transfers", "peers_cut"]


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_cut_between_machines(scenario: str) -> None:
    if not networks.is_possible():
        pytest.skip("no network namespaces for this user")
    done = subprocess.run(
        [*networks.ENTER, sys.executable, "-m", "tests.cluster.cut_networks", scenario],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
