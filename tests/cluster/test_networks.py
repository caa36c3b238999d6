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
    play(scenario)


@pytest.mark.ucx
@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario", ["over_ucx", "ps_cut", "cut_in_transfers"])
def test_machines_over_ucx(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORLOOM_TRANSPORT", "ucx")
    monkeypatch.setenv("UCX_TLS", "tcp")
    play(scenario)


def play(scenario: str) -> None:
    """Runs a scenario in a network of its own."""
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
