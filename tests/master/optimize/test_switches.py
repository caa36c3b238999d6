"""Which passes the options of a session switch off."""

from __future__ import annotations

import pytest

from tensorloom.framework.runtime.session_config import (
    TOGGLE_OFF,
    TOGGLE_ON,
    OptimizerConfig,
)
from tensorloom.master.optimize import PIPELINE, OptimizeTarget
from tensorloom.protos.rewriter_config_pb2 import RewriterConfig

# These follow `GraphOptions.optimizer_options`, or change nothing that is computed.
_WITHOUT_TOGGLE = ("common_subexpression", "dead_nodes")
# Off unless a program turns them on: by a toggle, and by another field.
_ASKED_FOR = ("auto_mixed_precision", "fuse_collectives")
_BY_FIELD = ("recomputation",)


@pytest.mark.parametrize(
    "name",
    [n for n, _ in PIPELINE if n not in (*_WITHOUT_TOGGLE, *_ASKED_FOR, *_BY_FIELD)],
)
def test_a_toggle_of_the_rewriter_config_switches_a_pass_off(name: str) -> None:
    fields = [field.name for field in RewriterConfig.DESCRIPTOR.fields]
    off = OptimizerConfig(toggles=dict.fromkeys(fields, TOGGLE_OFF))
    assert OptimizeTarget().allows(name)
    assert not OptimizeTarget(config=off).allows(name)


def test_a_toggle_switches_half_precision_on() -> None:
    name = "auto_mixed_precision"
    on = OptimizerConfig(toggles={name: TOGGLE_ON})
    gpu = OptimizeTarget(config=on, is_fast_in_half=lambda node: True)
    assert gpu.allows(name)
    assert not OptimizeTarget(config=on).allows(name)
    assert not OptimizeTarget(is_fast_in_half=lambda node: True).allows(name)
