"""The place that a launcher gives a process."""

from __future__ import annotations

import pytest

from tensorloom.framework import errors
from tensorloom.transport.collectives.place import Place, place_of

MEETING = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "5000"}
GOOD: dict[str, tuple[dict[str, str], Place]] = {
    "no launcher": ({}, Place()),
    "one process": ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, Place()),
    "torchrun": (
        {
            **MEETING,
            **{"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"},
            "LOCAL_WORLD_SIZE": "2",
        },
        Place(3, 4, 1, 2, "127.0.0.1", 5000, True),
    ),
    "mpirun": (
        {
            **{**MEETING, "MASTER_ADDR": "localhost"},
            **{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"},
        },
        Place(1, 2, 1, 2, "localhost", 5000, True),
    ),
    "srun": (
        {
            **{"SLURM_PROCID": "5", "SLURM_NTASKS": "6", "SLURM_LOCALID": "1"},
            **{"SLURM_NTASKS_PER_NODE": "2(x3)", "MASTER_ADDR": "node0"},
            **{"MASTER_PORT": "1", "TENSORLOOM_GROUP_HOST": "node2"},
        },
        Place(5, 6, 1, 2, "node0", 1, True, "node2"),
    ),
    "hvdrun": (
        {
            **{"HOROVOD_RANK": "0", "HOROVOD_SIZE": "2"},
            "TENSORLOOM_GROUP_STORE": "127.0.0.1:77",
        },
        Place(0, 2, 0, 2, "127.0.0.1", 77, False),
    ),
}
BAD: dict[str, tuple[dict[str, str], str]] = {
    "nowhere to meet": ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_ADDR"),
    "no number": ({"RANK": "x", "WORLD_SIZE": "2", **MEETING}, "RANK must be a number"),
    "a rank too many": ({"RANK": "2", "WORLD_SIZE": "2", **MEETING}, "of 2 processes"),
    "no port": (
        {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "b"},
        "cannot meet at 'a:b'",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_places(name: str) -> None:
    environment, place = GOOD[name]
    assert place_of(environment) == place


@pytest.mark.parametrize("name", BAD)
def test_bad_environments(name: str) -> None:
    environment, text = BAD[name]
    with pytest.raises(errors.InvalidArgumentError, match=text):
        place_of(environment)
