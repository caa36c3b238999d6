"""Runs one task of a cluster. Usage: python serve.py SYSTEM CLUSTER_JSON JOB"""

import json
import sys

from running import load


def main():
    """Serves until it is killed."""
    system, cluster, job = sys.argv[1:]
    tf = load(system)
    server = tf.train.Server(json.loads(cluster), job_name=job, task_index=0)
    print("ready", flush=True)
    server.join()


if __name__ == "__main__":
    main()
