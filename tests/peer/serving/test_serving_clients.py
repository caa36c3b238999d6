"""TensorFlow Serving's stubs and Triton's clients, unchanged, against our server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tensorloom.serving.model_server import ModelServer
from tensorloom.serving.options import ServerOptions
from tests.peer.peers import ENVIRONMENTS, REPOSITORY, python_of
from tests.serving.servers import write_config

pytestmark = pytest.mark.peer
SCRIPT = Path(__file__).with_name("serving_client.py")


def _clients() -> Path:
    """Where the clients are installed: beside TensorFlow, and not among it."""
    default = REPOSITORY / ENVIRONMENTS["2.21"] / "serving-clients"
    return Path(os.environ.get("SERVING_CLIENTS", default))


def test_clients(tmp_path: Path) -> None:
    python, clients = python_of("2.21"), _clients()
    if python is None or not clients.exists():
        pytest.skip("no TensorFlow 2.21 with the clients of its servers: make peer")
    for name in ("tf2", "half"):
        (tmp_path / name).mkdir()
    server = ModelServer(
        ServerOptions(
            port=-1,
            rest_api_port=-1,
            model_config_file=write_config(tmp_path, "tf2", "half"),
            file_system_poll_wait_seconds=0.1,
            max_num_load_retries=100,  # versions are seen while they are written
            load_retry_interval_micros=200_000,
        )
    )
    server.start(0.01)
    server.core.is_ready = True  # its models come later
    try:
        done = subprocess.run(
            [python, SCRIPT, tmp_path, str(server.grpc_port), str(server.rest_port)],
            env={**os.environ, "PYTHONPATH": str(clients)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        server.stop()
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    wrong = {name: text for name, text in found.items() if text}
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())
    assert len(found) >= 10
