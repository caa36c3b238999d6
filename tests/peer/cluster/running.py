"""Runs programs on a cluster of a ps and a worker by any of the systems' clients.

Usage: python running.py SYSTEM TARGET MODULE...

SYSTEM is `tensorloom`, `1.15` or `2.21`; the modules stand beside this one. Prints one
JSON object a program: its name and its result, or the class of its error. Runs on
Python 3.7 too, as the modules do.
"""

import importlib
import json
import os
import sys

import numpy as np

PS = "/job:ps/task:0"
WORKER = "/job:worker/task:0"
OTHER = "/job:worker/task:1"


def error_of(tf, run):
    """The class of what a call raises, or its value."""
    try:
        return run()
    except tf.errors.OpError as error:
        return type(error).__name__
    except (TypeError, ValueError, RuntimeError) as error:
        return type(error).__name__


def load(system):
    """The module that a program calls `tf`."""
    if system == "tensorloom":
        import tensorloom as tf
    elif system == "1.15":
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow as tf

        tf.logging.set_verbosity("ERROR")
    else:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    return tf


def plain(value):
    """A result as JSON can say it."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        if np.iscomplexobj(value):
            return plain([value.real, value.imag])
        if value.dtype == object:
            return plain(value.tolist())
        if value.dtype.kind == "f":
            return np.asarray(value, np.float64).tolist()
        return value.tolist()
    return value


def outcome(program, tf, target):
    """What a program gives: its result, or the class of its error."""
    tf.Session.reset(target)  # variables are shared by name, across programs too
    tf.reset_default_graph()
    tf.set_random_seed(1)
    try:
        return {"result": plain(program(tf, target))}
    except tf.errors.OpError as error:
        return {"error": type(error).__name__}
    except Exception as error:  # a defect of the program or the system
        return {"failure": f"{type(error).__name__}: {error}"}


def programs_of(module):
    """The public functions of a module."""
    return [
        value
        for name, value in vars(importlib.import_module(module)).items()
        if getattr(value, "__module__", "") == module and name[0] != "_"
    ]


def main():
    """Runs all programs of the modules."""
    system, target, *modules = sys.argv[1:]
    tf = load(system)
    for module in modules:
        for program in programs_of(module):
            found = outcome(program, tf, target)
            found["name"] = program.__name__
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
