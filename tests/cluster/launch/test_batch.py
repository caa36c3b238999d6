"""Jobs of Slurm and Kubernetes: what is handed to them, and what tasks make of it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tensorloom.cli.main import main
from tensorloom.cluster.launch import batch_task
from tensorloom.cluster.launch.job import Job, Restarts, Task
from tensorloom.cluster.launch.kubernetes import manifests
from tensorloom.cluster.launch.slurm import script


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program that shows which task it is."""
    path = tmp_path / "train.py"
    path.write_text("import os, sys\nprint(os.environ['TF_CONFIG'], sys.argv[1:])\n")
    return str(path)


def test_a_script_of_slurm(program: str) -> None:
    job = Job(
        program,
        ["--rate", "0.1 2"],
        {"chief": 0, "ps": 1, "worker": 2},
        environment={"OMP_NUM_THREADS": "2"},
        restarts=Restarts(3),
        gpus_per_worker=1,
        cpus_per_task=4,
    )
    lines = script(job, "mine", 3000, ["--time=1:00:00"]).splitlines()
    assert lines == [
        "#!/bin/bash",
        "#SBATCH --job-name=mine",
        "#SBATCH --ntasks=3",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --gpus-per-task=1",
        "#SBATCH --requeue",
        "#SBATCH --time=1:00:00",
        "",
        "export OMP_NUM_THREADS=2",
        f"srun --kill-on-bad-exit=1 --distribution=block --label {sys.executable} -m "
        "tensorloom.cluster.launch.batch_task --jobs ps=1,worker=2 --port 3000 "
        f"--grace 5 -- {program} --rate '0.1 2'",
    ]
    syntax = subprocess.run(["bash", "-n"], input="\n".join(lines), text=True)
    assert syntax.returncode == 0


def test_nodes_of_slurm(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(program, jobs={"ps": 1, "worker": 4})
    monkeypatch.setenv("SLURM_STEP_NODELIST", "n[1-2],m")
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "2(x2),1")
    assert batch_task.nodes(job, 3000) == {
        Task("ps", 0): "n1:3000",
        Task("worker", 0): "n1:3001",
        Task("worker", 1): "n2:3002",
        Task("worker", 2): "n2:3003",
        Task("worker", 3): "m:3004",
    }
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "1(x3)")
    with pytest.raises(ValueError, match="Slurm runs 3 tasks, the job has 5"):
        batch_task.nodes(job, 3000)


@pytest.mark.slow
def test_a_task_of_slurm(
    program: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_STEP_NODELIST", "localhost")
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "2")
    monkeypatch.setenv("SLURM_PROCID", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    arguments = ["--jobs", "worker=2", "--port", "3000", "--grace", "1"]
    assert batch_task.main([*arguments, "--", program, "--rate", "0.1"]) == 0
    config, _, rest = capfd.readouterr().out.rpartition(" [")
    assert json.loads(config) == {
        "cluster": {"worker": ["localhost:3000", "localhost:3001"]},
        "task": {"type": "worker", "index": 1},
    }
    assert rest.strip() == "'--rate', '0.1']"


def test_manifests_of_kubernetes(program: str) -> None:
    job = Job(
        program,
        ["--rate=0.1"],
        {"ps": 1, "worker": 2},
        environment={"A": "b"},
        restarts=Restarts(3),
        gpus_per_worker=1,
    )
    service, ps, workers = manifests(job, "repo/image:1", "mine", 3000, "team")["items"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"].items() <= (
        workers["spec"]["template"]["metadata"]["labels"].items()
    )
    assert (ps["metadata"]["name"], workers["metadata"]["name"]) == (
        "mine-ps",
        "mine-worker",
    )
    spec = workers["spec"]
    assert (spec["completions"], spec["parallelism"], spec["completionMode"]) == (
        2,
        2,
        "Indexed",
    )
    assert spec["backoffLimit"] == 6
    assert spec["template"]["spec"]["subdomain"] == "mine"
    (container,) = spec["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    assert container["env"] == [{"name": "A", "value": "b"}]
    options = batch_task._parser().parse_args(container["command"][3:])
    assert (options.service, options.job, options.command) == (
        "mine",
        "worker",
        [program, "--rate=0.1"],
    )
    # Kubernetes names the pods of indexed Jobs so.
    assert batch_task.pods(job, "mine", 3000)[Task("worker", 1)] == (
        "mine-worker-1.mine:3000"
    )
    (container,) = ps["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {}


@pytest.mark.parametrize(
    ("where", "tool"),
    [
        (["--slurm"], "sbatch"),
        (["--kubernetes", "--image", "repo/image:1"], "kubectl"),
    ],
)
def test_what_is_submitted(
    where: list[str],
    tool: str,
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["cluster", *where, "--workers", "2", program]) == 0
    printed = capfd.readouterr().out
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["cluster", *where, "--submit", "--workers", "2", program]) == 2
    assert f"no {tool} here" in capfd.readouterr().err
    stand_in = tmp_path / tool
    stand_in.write_text("#!/bin/sh\n/bin/cat\nexit 7\n")
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert main(["cluster", *where, "--submit", "--workers", "2", program]) == 7
    assert capfd.readouterr().out == printed
