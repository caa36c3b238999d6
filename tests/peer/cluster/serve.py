"""Runs one task of a cluster.

Usage: python serve.py SYSTEM CLUSTER_JSON JOB TASK
"""

import json
import sys

from running import load


def main():
    """Serves until it is killed."""
    system, cluster, job, task = sys.argv[1:]
    tf = load(system)
    server = tf.train.Server(json.loads(cluster), job_name=job, task_index=int(task))
    print("ready", flush=True)
    server.join()


if __name__ == "__main__":
    main()
