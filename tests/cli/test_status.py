"""`tensorloom status`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.cluster.launch.job import Task
from tensorloom.cluster.launch.running import JobFile, running_jobs
from tensorloom.coordination import writers
from tensorloom.coordination.coordinator import VARIABLE
from tests.cluster.clusters import cluster, free_ports

TIMES = ["--interval", "0", "--timeout", "60"]


@pytest.fixture(autouse=True)
def _no_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    yield
    writers._close_all()


def test_a_cluster_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with cluster(ps=1, worker=1) as servers:
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v")
        with tf.device("/job:worker/task:0"):
            doubled = v * 2.0
        saver = tf.train.Saver()
        with tf.Session(servers["worker"][0].target) as sess:
            sess.run(v.initializer)
            for _ in range(5):
                sess.run(doubled)
            path = saver.save(sess, str(tmp_path / "model" / "ckpt"))
        spec = ";".join(
            f"{job}={server.target.removeprefix('grpc://')}"
            for job, (server,) in servers.items()
        )
        assert main(["status", "--cluster", spec, "--json", *TIMES]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [row["name"] for row in rows] == ["ps 0", "worker 0"]
        for row in rows:
            assert row["process"] == os.getpid()
            assert row["steps"] >= 5
            assert row["checkpoint"] == path
            assert sum(row["sent_bytes"].values()) > 0
            assert row["sending_s"].keys() == row["sent_bytes"].keys()
            assert row["sending_s"]["gRPC call"] > 0
            assert row["devices"][0]["incarnation"] != "0"
        assert main(["status", "--cluster", spec, *TIMES]) == 0
        told = capsys.readouterr().out
        assert "last checkpoint" in told
        assert "sent by " in told


def test_a_task_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    (port,) = free_ports(1)
    spec = f"worker=localhost:{port}"
    assert main(["status", "--cluster", spec, "--json", *TIMES]) == 0
    assert f"localhost:{port}" in json.loads(capsys.readouterr().out)["error"]
    assert main(["status", "--cluster", spec, *TIMES]) == 0
    assert "does not answer" in capsys.readouterr().out


def test_jobs_that_were_launched_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 1
    assert "no job was launched here" in capsys.readouterr().err
    file = JobFile("train.py")
    with cluster(worker=1) as servers:
        address = servers["worker"][0].target.removeprefix("grpc://")
        file.write({Task("worker", 0): address}, {Task("worker", 0): 2})
        assert main(["status", "--json", *TIMES]) == 0
        row = json.loads(capsys.readouterr().out)
        assert (row["name"], row["restarts"], row["address"]) == (
            "worker 0",
            2,
            address,
        )
    file.remove()
    assert running_jobs() == []


def test_a_folder_that_others_read(tmp_path: Path) -> None:
    """Nothing is written where somebody else may read the job's token."""
    (tmp_path / f"tensorloom-jobs-{os.getuid()}").mkdir(mode=0o755)
    file = JobFile("train.py")
    file.write({Task("worker", 0): "a:1"}, {})
    assert running_jobs() == []
    assert not list(tmp_path.glob("*/*"))


def test_members_of_a_job(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(VARIABLE, f"file://{tmp_path}/locks")
    (port,) = free_ports(1)
    server = tf.train.Server({"ps": [f"localhost:{port}"]}, "ps", 0)
    resolver = tf.distribute.cluster_resolver.MembershipClusterResolver(
        wait_for={"ps": 1}
    )
    resolver.cluster_spec()
    assert main(["status", "--json", *TIMES]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "ps 0"
    server.stop()


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--cluster", "nonsense"]) == 2
    assert "tensorloom status: " in capsys.readouterr().err
