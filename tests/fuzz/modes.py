"""The ways in which a random program is run: by passes, by devices, by executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest import mock

from tensorloom.master.optimize import PIPELINE, target
from tests.fuzz.plain_piece import plain_pieces

PASSES = ("dead_loop_variables", *(name for name, _ in PIPELINE))

# What programs ask for by TensorFlow's inner names; and no run waits for ever.
_NAMES = """\
import importlib
root = tf.__name__.split(".")[0]
Defun = importlib.import_module(root + ".python.framework.function").Defun
functional_ops = importlib.import_module(root + ".python.ops.functional_ops")
CONFIG = tf.ConfigProto(operation_timeout_in_ms=30000)
"""
ONE_DEVICE = _NAMES + 'D = ["", ""]\nTARGET = ""\n'
TWO_DEVICES = (
    _NAMES + 'D = ["/cpu:0", "/cpu:1"]\nTARGET = ""\nCONFIG.device_count["CPU"] = 2\n'
)
# Graph rewrites off, in TensorFlow's own words.
UNOPTIMIZED = (
    ONE_DEVICE + "CONFIG.graph_options.optimizer_options.opt_level = -1\n"
    "CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True\n"
)


def two_tasks(address: str) -> str:
    """The beginning of a program on two tasks.

    Args:
      address: of the task that is the master, `grpc://...`.
    """
    return (
        f'{_NAMES}D = ["/job:worker/task:0", "/job:worker/task:1"]\n'
        f'TARGET = "{address}"\n'
        "tf.Session.reset(TARGET)\n"  # what programs before have left in queues
    )


@dataclass(frozen=True)
class Mode:
    """One way to run a program."""

    name: str
    head: str = ONE_DEVICE
    context: Callable[[], AbstractContextManager[Any]] = nullcontext  # of its runs


@contextmanager
def only_pass(name: str) -> Iterator[None]:
    """Leaves all graph passes but one out."""
    with mock.patch.object(target.OptimizeTarget, "allows", lambda _, n: n == name):
        yield


def _alone(name: str) -> Mode:
    return Mode(f"only {name}", context=lambda: only_pass(name))


ALL_PASSES = Mode("all passes")
NO_PASSES = Mode("no passes", UNOPTIMIZED)
DEVICES = Mode("two devices", TWO_DEVICES)
INTERPRETED = Mode("node by node", context=plain_pieces)
INTERPRETED_DEVICES = Mode("node by node on two devices", TWO_DEVICES, plain_pieces)
ALONE = [_alone(name) for name in PASSES]
RECOMPUTED = Mode(
    "gradients that compute again",
    ONE_DEVICE + "CONFIG.graph_options.rewrite_options.memory_optimization = 5\n",
)
MODES = [ALL_PASSES, NO_PASSES, DEVICES, INTERPRETED, INTERPRETED_DEVICES, RECOMPUTED]
MODES += ALONE
