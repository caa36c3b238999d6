"""Runs an example program and writes down what its steps gave.

    python example_recorder.py SYSTEM PROGRAM TRACE.npz DIGITS.npz ARGUMENTS...

The system is tensorflow or tensorloom, the arguments are the program's. The program
stays as it is: its sessions are watched. Of each call of `Session.run` (of a monitored
session, where there is one) the trace has the numbers that were fetched, and the values
of all variables if they have changed.

NumPy and the standard library only, and Python 3.7: TensorFlow 1.15 has nothing newer.
scikit-learn is not there either: its digits come from a file.
"""

import collections
import os
import runpy
import sys
import threading
import types

import numpy as np


class Recorder(object):
    """What was fetched, and how the variables changed, call by call."""

    def __init__(self, tf):
        self.trace = collections.OrderedDict()
        self._tf = tf
        self._calls = 0
        self._depth = 0
        self._session = None
        self._variables = {}
        self._run = self._watch_sessions()

    def _watch_sessions(self):
        tf = self._tf
        plain = owner_of(tf.Session, "run")
        run = plain.run

        def run_and_record(session, fetches, *args, **kwargs):
            if threading.current_thread() is not threading.main_thread():
                return run(session, fetches, *args, **kwargs)
            self._session = session
            return self._recorded(run, session, fetches, *args, **kwargs)

        plain.run = run_and_record
        monitored = owner_of(tf.train.MonitoredSession, "run")
        run_monitored = monitored.run
        monitored.run = lambda *args, **kwargs: self._recorded(
            run_monitored, *args, **kwargs
        )
        create = monitored.__init__
        monitored.__init__ = lambda *args, **kwargs: self._unrecorded(
            create, *args, **kwargs
        )
        return run

    def _unrecorded(self, function, *args, **kwargs):
        self._depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            self._depth -= 1

    def _recorded(self, run, session, fetches, *args, **kwargs):
        result = self._unrecorded(run, session, fetches, *args, **kwargs)
        if self._depth == 0:
            numbers = list(numbers_in(result))
            if any(number.dtype.kind == "f" for number in numbers):
                for place, number in enumerate(numbers):
                    self.trace["%04d fetch %d" % (self._calls, place)] = number
            self._record_variables()
            self._calls += 1
        return result

    def _record_variables(self):
        graph = self._session.graph
        variables = graph.get_collection(self._tf.GraphKeys.GLOBAL_VARIABLES)
        try:
            found = self._unrecorded(self._run, self._session, variables)
        except (self._tf.errors.FailedPreconditionError, RuntimeError):
            return  # not initialized yet, or closed
        named = {v.op.name: np.array(value) for v, value in zip(variables, found)}
        if not equal(named, self._variables):
            self._variables = named
            for name in sorted(named):
                self.trace["%04d variable %s" % (self._calls, name)] = named[name]


def owner_of(cls, name):
    """The class that a method of `cls` is defined in."""
    return next(base for base in cls.__mro__ if name in vars(base))


def equal(some, others):
    """Whether two dicts have the same arrays."""
    return some.keys() == others.keys() and all(
        np.array_equal(some[key], others[key]) for key in some
    )


def numbers_in(fetched):
    """The arrays of numbers in a structure of fetched values."""
    if isinstance(fetched, dict):
        fetched = [fetched[key] for key in sorted(fetched)]
    if isinstance(fetched, (list, tuple)):
        for part in fetched:
            for number in numbers_in(part):
                yield number
    elif isinstance(fetched, (np.ndarray, np.generic)):
        array = np.asarray(fetched)
        if array.dtype.kind in "biuf":
            yield array


def import_as_tensorflow(which):
    """`import tensorflow` in the program gets it."""
    if which == "tensorloom":
        from tensorloom.compat.module_paths.finder import install_alias

        install_alias()
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def offer_digits(path):
    """`sklearn.datasets.load_digits` from a file."""
    with np.load(path) as file:
        digits = types.SimpleNamespace(data=file["data"], target=file["target"])
    sklearn = types.ModuleType("sklearn")
    sklearn.datasets = types.ModuleType("sklearn.datasets")
    sklearn.datasets.load_digits = lambda: digits
    sys.modules["sklearn"] = sklearn
    sys.modules["sklearn.datasets"] = sklearn.datasets


def main():
    which, program, trace, digits = sys.argv[1:5]
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    recorder = Recorder(import_as_tensorflow(which))
    offer_digits(digits)
    sys.argv = [program, *sys.argv[5:]]
    sys.path[0] = os.path.dirname(program)
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:  # as `tf.app.run` ends
        if ended.code:
            raise
    np.savez(trace, **recorder.trace)


if __name__ == "__main__":
    main()
