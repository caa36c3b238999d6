"""Listing devices takes nothing: no torch, no memory, no device context."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path

import tensorloom as tf

def resident_kb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

sess = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
before = resident_kb()
for _ in range(100):
    devices = sess.list_devices()
assert [d.name[-5:] for d in devices if d.device_type == "CPU"] == ["CPU:0", "CPU:1"]
assert resident_kb() - before < 200, resident_kb() - before
assert len({d.incarnation for d in devices}) == len(devices)
assert "torch" not in sys.modules
assert sess.run(tf.constant(2.0) * 3.0) == 6.0
assert "torch" not in sys.modules
"""


@pytest.mark.multiprocess
def test_listing_devices_loads_and_allocates_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr
