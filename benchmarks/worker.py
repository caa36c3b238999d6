"""Measures workloads in one system: python worker.py SYSTEM, Python 3.7.

A line of JSON in, a line of JSON out: {"prepare": name}, then any number of
{"measure": name}, each answered by {"seconds": s}, then {"finish": name}. Errors are
{"error": text}.
"""

import gc
import json
import os
import sys
import traceback

# Run as a script by other Pythons, in which the project is not installed.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks import systems
from benchmarks.workloads.table import seconds_a_call

WARM_UP = 5
# Steps that repeat are measured in machine code: what serves loops until it is there is
# measured in fresh processes.
os.environ.setdefault("TENSORLOOM_LOOPS", "machine")


class Measurement:
    """One prepared workload."""

    def __init__(self, workload, tf):
        self._workload = workload
        self._tf = tf
        self._steps = None
        if workload.repeated:
            tf.reset_default_graph()
            self._steps = workload.prepare(tf)
            self._step = next(self._steps)
            for _ in range(WARM_UP):
                self._step()

    def seconds(self):
        """One measurement."""
        gc.collect()
        if self._workload.repeated:
            return seconds_a_call(self._step) / self._workload.calls
        with self._tf.Graph().as_default():
            return self._workload.prepare(self._tf)

    def close(self):
        """Closes what the workload holds."""
        if self._steps is not None:
            self._steps.close()


def workloads_of(system):
    """The table of what can be measured, and the module handed to it."""
    if system == "torch":
        from benchmarks import plain_torch

        return plain_torch.WORKLOADS, plain_torch
    from benchmarks.workloads import WORKLOADS

    return WORKLOADS, systems.load(system)


def serve(table, tf, read, write):
    """Answers requests until the input ends."""
    measurement = None
    for line in read:
        ((action, name),) = json.loads(line).items()
        answer = {}
        try:
            if action == "prepare":
                measurement = Measurement(table[name], tf)
            elif action == "measure":
                answer = {"seconds": measurement.seconds()}
            else:
                measurement.close()
                measurement = None
                gc.collect()
        except Exception:
            answer = {"error": traceback.format_exc()}
        write(json.dumps(answer))


def main():
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def write(line):
        answers.write(line + "\n")
        answers.flush()

    table, tf = workloads_of(sys.argv[1])
    serve(table, tf, sys.stdin, write)


if __name__ == "__main__":
    main()
