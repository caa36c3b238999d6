"""The examples of docs/eager.md run as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tensorloom as tf
from tests.cluster.clusters import free_ports

PAGE = Path(__file__).parents[2] / "docs" / "eager.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["alone", "cluster"])
def test_the_example_runs(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    cluster = tf.train.ClusterSpec({"worker": addresses})
    server = tf.train.Server(cluster, "worker", 1)
    try:
        names = {"__name__": "eager", "cluster": cluster}
        exec(compile(block, str(PAGE), "exec"), names)
    finally:
        server.stop()
    printed = capsys.readouterr().out.splitlines()
    assert printed == re.findall(r"print\(.*\)  # (.*)", block)
