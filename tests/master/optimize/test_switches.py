"""Which passes the options of a session switch off."""

from __future__ import annotations

import pytest

from tensorloom.framework.runtime.session_config import TOGGLE_OFF, OptimizerConfig
from tensorloom.master.optimize import PIPELINE, OptimizeTarget
from tensorloom.protos.rewriter_config_pb2 import RewriterConfig

# These follow `GraphOptions.optimizer_options`, or change nothing that is computed.
_WITHOUT_TOGGLE = ("common_subexpression", "dead_nodes")


@pytest.mark.parametrize(
    "name", [name for name, _ in PIPELINE if name not in _WITHOUT_TOGGLE]
)
def test_a_toggle_of_the_rewriter_config_switches_a_pass_off(name: str) -> None:
    fields = [field.name for field in RewriterConfig.DESCRIPTOR.fields]
    off = OptimizerConfig(toggles=dict.fromkeys(fields, TOGGLE_OFF))
    assert OptimizeTarget().allows(name)
    assert not OptimizeTarget(config=off).allows(name)
