"""The same TensorFlow 1 programs here and in real TensorFlow."""

from __future__ import annotations

import pytest

from tests.peer.peers import Peer, compare_program
from tests.peer.programs import Program, all_programs

PROGRAMS = [pytest.param(program, id=program.name) for program in all_programs()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_is_as_in_tensorflow(program: Program, reference: Peer) -> None:
    aspects = program.aspects_in(reference.version)
    differences = compare_program(program.source, reference, aspects)
    assert not differences, "\n" + "\n".join(differences[:25])
