"""The devices of the process, as messages."""

from __future__ import annotations

import tensorloom as tf
from tensorloom.client.session.device_lib import list_local_devices


def test_devices_of_the_process() -> None:
    first = list_local_devices()[0]
    assert (first.name, first.device_type) == ("/device:CPU:0", "CPU")
    config = tf.ConfigProto(device_count={"CPU": 2})
    assert [d.name for d in list_local_devices(config)][:2] == [
        "/device:CPU:0",
        "/device:CPU:1",
    ]
