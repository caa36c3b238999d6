"""A job of Slurm whose every task runs the program."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Job


def script(
    job: Job, name: str = "tensorloom", port: int = 2222, sbatch: Sequence[str] = ()
) -> str:
    """The batch script.

    Its tasks are numbered as the job's are; each gets TF_CONFIG from the nodes that
    Slurm has given, with `port` and its number as its port. Slurm itself starts the job
    again when a node fails, as often as its administrator allows.

    Args:
      job: what to run.
      name: of the job.
      port: of the first task.
      sbatch: further options of sbatch.
    """
    tasks = job.tasks
    lines = [f"--job-name={name}", f"--ntasks={len(tasks)}"]
    lines.append(f"--cpus-per-task={max(1, round(job.cpus_per_task))}")
    if job.gpus_per_worker:
        # Slurm gives each task of a step the same: servers have some as well.
        lines.append(f"--gpus-per-task={round(job.gpus_per_worker)}")
    if job.restarts.limit:
        lines.append("--requeue")
    lines += sbatch
    directives = "\n".join(f"#SBATCH {line}" for line in lines)
    counts = ",".join(f"{j}={n}" for j, n in job.jobs.items() if n)
    task = shlex.join(
        [
            *[sys.executable, "-m", "tensorloom.cluster.launch.batch_task"],
            *["--jobs", counts, "--port", str(port), "--grace", f"{job.grace_s:g}"],
            *(["--flags"] if job.flags else []),
            *["--", job.program, *job.arguments],
        ]
    )
    environment = [f"export {k}={shlex.quote(v)}" for k, v in job.environment.items()]
    step = f"srun --kill-on-bad-exit=1 --distribution=block --label {task}"
    body = "\n".join([*environment, step])
    return f"#!/bin/bash\n{directives}\n\n{body}\n"


def launch(
    job: Job,
    name: str = "tensorloom",
    port: int = 2222,
    submit: bool = False,
    sbatch: Sequence[str] = (),
) -> int:
    """Prints the batch script, or submits it.

    Args:
      job: what to run.
      name, port, sbatch: see `script`.
      submit: whether to call sbatch.

    Returns:
      sbatch's exit status.

    Raises:
      ValueError: there is no sbatch here.
    """
    text = script(job, name, port, sbatch)
    if not submit:
        print(text, end="")
        return 0
    if shutil.which("sbatch") is None:
        raise ValueError(
            "no sbatch here: without --submit the script is printed, "
            "for a machine that has it"
        )
    return subprocess.run(
        ["sbatch"], input=text, text=True, stdout=sys.stdout
    ).returncode
