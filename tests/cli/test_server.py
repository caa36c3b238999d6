"""`tensorloom server` and `tensorloom cluster`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.cli.server import _open_dashboard, parse_cluster
from tensorloom.cluster.launch.job import flags

ROOT = Path(__file__).parents[2]
JOBS = {"ps": ["a:1"], "worker": ["b:1", "c:2"]}


def test_ways_to_say_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"cluster": JOBS, "task": {}}))
    assert parse_cluster("ps=a:1;worker=b:1,c:2") == JOBS
    assert parse_cluster(json.dumps(JOBS)) == JOBS
    assert parse_cluster(str(file)) == JOBS
    assert parse_cluster('{"worker": {"3": "d:1"}}') == {"worker": {3: "d:1"}}
    for wrong in ("nonsense", "ps=", "[1]", "{", ""):
        with pytest.raises((ValueError, TypeError)):
            assert parse_cluster(wrong)


@pytest.mark.parametrize(
    "arguments",
    [
        ["server"],
        ["server", "--cluster", "nonsense"],
        ["server", "--cluster", "ps=localhost:0", "--job", "nobody"],
        ["server", "--cluster", "ps=localhost:0", "--deny-ops", "NoSuchOp"],
        ["server", "--stop", "localhost:1"],
        ["cluster", "--workers", "0", __file__],
        ["cluster", "--ps", "-1", __file__],
        ["cluster", "--join", __file__],  # nobody says where the job is
        ["cluster", "--kubernetes", __file__],
        ["cluster", "--ray", "--runtime-env", "nonsense", __file__],
        ["dashboard", "nonsense"],
        ["dashboard", "ps=localhost:1", "--dashboard-host", "no address"],
        ["cluster", "no/such/file.py"],
    ],
)
def test_mistakes(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.delenv("TENSORLOOM_COORDINATION", raising=False)
    assert main(arguments) == 2
    assert f"tensorloom {arguments[0]}: " in capsys.readouterr().err


def test_a_dashboard_of_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORLOOM_DASHBOARD_TOKEN", "known")
    server = tf.train.Server.create_local_server()
    try:
        dashboard = _open_dashboard(server, 0, "127.0.0.1")
        state = dashboard.watcher.state_after(0, 60.0)
        dashboard.close()
    finally:
        server.stop()
    assert f"127.0.0.1:{dashboard.port}/?token=known" in capsys.readouterr().err
    (task,) = state["tasks"]
    assert task["name"] == task["task"] == "/job:local/replica:0/task:0"


def test_flags_of_old_scripts() -> None:
    assert flags(JOBS, "worker", 1) == [
        "--ps_hosts=a:1",
        "--worker_hosts=b:1,c:2",
        "--job_name=worker",
        "--task_index=1",
    ]


SCRIPT = """
import json, os, sys, time
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
job, index = resolver.task_type, resolver.task_id
server = tf.train.Server(resolver.cluster_spec(), job_name=job, task_index=index)
if job == "ps":
    server.join()
    print("joined")
else:
    with tf.device("/job:ps/task:0"):
        x = tf.constant(index) + 1
    # Another worker may have ended before this one begins: it is not waited for.
    filters = ["/job:ps", f"/job:worker/task:{index}"]
    config = tf.ConfigProto(device_filters=filters)
    with tf.Session(server.target, config=config) as sess:
        print("x is", sess.run(x))
    if sys.argv[1:] == ["fail"] and index == 1:
        sys.exit(3)
    if sys.argv[1:]:
        time.sleep(60)
"""


def start(script: Path, *arguments: str) -> subprocess.Popen[str]:
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "tensorloom", "cluster", "--ps", "1"]
    return subprocess.Popen(
        [*command, "--workers", "2", str(script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Waits for the end; what does not end is killed, and its tasks with it."""
    try:
        return process.communicate(timeout=100)
    finally:
        process.kill()


def nothing_is_left(script: Path) -> bool:
    """Whether no process runs the script."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(process.read_bytes())
            except OSError:
                continue
        if not any(os.fsencode(script) in line for line in lines):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.multiprocess
@pytest.mark.slow
def test_a_cluster_runs_a_script(tmp_path: Path) -> None:
    """The workers end by themselves, then the ps is told to."""
    process = start(tmp_path / "ok.py")
    out, err = finish(process)
    assert process.returncode == 0, out + err
    lines = out.splitlines()
    assert {"[worker 0] x is 1", "[worker 1] x is 2", "[ps 0] joined"} <= set(lines)
    assert nothing_is_left(tmp_path / "ok.py")


@pytest.mark.multiprocess
@pytest.mark.slow
def test_a_cluster_ends_when_a_task_fails(tmp_path: Path) -> None:
    process = start(tmp_path / "bad.py", "fail")
    out, err = finish(process)
    assert process.returncode == 3, out + err
    assert "worker 1 failed: exit status 3" in err
    assert nothing_is_left(tmp_path / "bad.py")


@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_cluster_ends_with_its_launcher(tmp_path: Path, number: int) -> None:
    process = start(tmp_path / "long.py", "sleep")
    assert process.stdout is not None
    while "x is" not in process.stdout.readline():
        pass
    process.send_signal(number)
    finish(process)
    expected = -signal.SIGKILL if number == signal.SIGKILL else 128 + number
    assert process.returncode == expected
    assert nothing_is_left(tmp_path / "long.py")
