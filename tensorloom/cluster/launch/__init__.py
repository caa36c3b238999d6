"""Clusters whose every task runs a program: on this machine, Ray, Slurm, Kubernetes.

from tensorloom.cluster.launch import Job, launch

status = launch(Job("train.py", jobs={"ps": 1, "worker": 2}), "ray")
"""

from tensorloom.cluster.launch.job import Job, Restarts
from tensorloom.cluster.launch.launchers import LAUNCHERS, launch

__all__ = ["LAUNCHERS", "Job", "Restarts", "launch"]
