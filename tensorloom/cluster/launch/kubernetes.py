"""Indexed Jobs of Kubernetes whose every pod runs the program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Job


def manifests(
    job: Job,
    image: str,
    name: str = "tensorloom",
    port: int = 2222,
    namespace: str = "default",
) -> dict[str, Any]:
    """A headless service, and an indexed Job for each job of the cluster.

    A pod that fails is started again under its name, as is one whose node is lost:
    others find it by that. The chief's pod tells the servers to end.

    Args:
      job: what to run; its program is a path in the image.
      image: has tensorloom, and the program.
      name: of all.
      port: of each task.
      namespace: where.
    """
    labels = {"tensorloom": name}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "clusterIP": "None",
            "selector": labels,
            # Tasks look for each other before they are ready.
            "publishNotReadyAddresses": True,
            "ports": [{"name": "grpc", "port": port}],
        },
    }
    names = dict.fromkeys(task.job for task in job.tasks)
    jobs = [_indexed_job(job, kind, image, name, port, namespace) for kind in names]
    return {"apiVersion": "v1", "kind": "List", "items": [service, *jobs]}


def _indexed_job(
    job: Job, kind: str, image: str, name: str, port: int, namespace: str
) -> dict[str, Any]:
    count = job.jobs[kind]
    limits: dict[str, str] = {}
    if kind != "ps" and job.gpus_per_worker:
        limits["nvidia.com/gpu"] = f"{job.gpus_per_worker:g}"
    container = {
        "name": "task",
        "image": image,
        "command": _command(job, kind, name, port),
        "env": [{"name": k, "value": v} for k, v in job.environment.items()],
        "ports": [{"containerPort": port}],
        "resources": {"requests": {"cpu": f"{job.cpus_per_task:g}"}, "limits": limits},
    }
    labels = {"tensorloom": name, "job": kind}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{name}-{kind}",
            "namespace": namespace,
            "labels": labels,
        },
        "spec": {
            "completions": count,
            "parallelism": count,
            "completionMode": "Indexed",
            "backoffLimit": job.restarts.limit * count,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "subdomain": name,
                    "restartPolicy": "OnFailure",
                    "terminationGracePeriodSeconds": max(1, round(job.grace_s)),
                    "containers": [container],
                },
            },
        },
    }


def _command(job: Job, kind: str, name: str, port: int) -> list[str]:
    counts = ",".join(f"{j}={n}" for j, n in job.jobs.items() if n)
    return [
        *["python", "-m", "tensorloom.cluster.launch.batch_task"],
        *["--jobs", counts, "--port", str(port), "--grace", f"{job.grace_s:g}"],
        *["--service", name, "--job", kind],
        *(["--flags"] if job.flags else []),
        *["--", job.program, *job.arguments],
    ]


def launch(
    job: Job,
    image: str | None = None,
    name: str = "tensorloom",
    port: int = 2222,
    namespace: str = "default",
    submit: bool = False,
) -> int:
    """Prints the manifests, or applies them.

    Args:
      job: what to run.
      image, name, port, namespace: see `manifests`.
      submit: whether to call kubectl.

    Returns:
      kubectl's exit status.

    Raises:
      ValueError: there is no image, or no kubectl here.
    """
    if not image:
        raise ValueError("Kubernetes needs an image, which has the program: --image")
    text = json.dumps(manifests(job, image, name, port, namespace), indent=1) + "\n"
    if not submit:
        print(text, end="")
        return 0
    if shutil.which("kubectl") is None:
        raise ValueError(
            "no kubectl here: without --submit the manifests are printed, "
            "for a machine that has it"
        )
    command = ["kubectl", "apply", "-f", "-"]
    return subprocess.run(command, input=text, text=True, stdout=sys.stdout).returncode
