"""Processes without servers, which find each other as Horovod's do."""

from __future__ import annotations

from tensorloom.cluster.launch.job import Cluster, Job, Task


class RankJob(Job):
    """A program that runs once for each rank; its only job is `rank`."""

    def environment_of(self, task: Task, cluster: Cluster) -> dict[str, str]:
        """The variables of a rank."""
        size = str(self.jobs[task.job])
        return {
            "PYTHONUNBUFFERED": "1",
            "HOROVOD_RANK": str(task.index),
            "HOROVOD_SIZE": size,
            "HOROVOD_LOCAL_RANK": str(task.index),
            "HOROVOD_LOCAL_SIZE": size,
            **self.environment,
        }
