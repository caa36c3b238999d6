"""What a workload is, and the table that a module of workloads fills."""

import time


class Workload:
    """One row of the report that is measured inside a long-lived process."""

    def __init__(
        self, name, target, seconds, prepare, repeated, calls=1, unit="seconds"
    ):
        self.name = name
        # Our time divided by the faster TensorFlow's must not be above this,
        self.target = target
        # or, where this is given, our time not above so many seconds (or of the unit).
        self.seconds = seconds
        # What is measured: "seconds", or "times" for a ratio.
        self.unit = unit
        # prepare(tf) yields a step to be timed (repeated), or is itself one measurement
        # and returns its seconds (not repeated).
        self.prepare = prepare
        self.repeated = repeated
        # How many of what is measured one call of the step does.
        self.calls = calls


class Table:
    """The workloads of one module, in the order of their definition."""

    def __init__(self):
        self.workloads = []

    def step(self, name, target=None, seconds=None, calls=1):
        """Registers a generator that sets up, yields a step, and cleans up."""
        return self._register(name, target, seconds, repeated=True, calls=calls)

    def once(self, name, target=None, seconds=None, unit="seconds"):
        """Registers a function that returns the seconds of the part that counts."""
        return self._register(name, target, seconds, repeated=False, unit=unit)

    def _register(self, name, target, seconds, repeated, calls=1, unit="seconds"):
        def register(prepare):
            workload = Workload(name, target, seconds, prepare, repeated, calls, unit)
            self.workloads.append(workload)
            return prepare

        return register


def seconds_of(function):
    """The wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def seconds_a_call(function, least_seconds=0.25):
    """The mean wall time of a call, over as many calls as fill `least_seconds`."""
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        spent = time.perf_counter() - start
        if spent >= least_seconds:
            return spent / calls
        calls = max(calls * 2, int(calls * 1.2 * least_seconds / max(spent, 1e-6)))
