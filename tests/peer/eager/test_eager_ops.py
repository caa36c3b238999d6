"""Ops that run one at a time give what TensorFlow's eager execution gives."""

from __future__ import annotations

from pathlib import Path

from tests.peer.peers import Peer, compare_program

SOURCE = (Path(__file__).parent / "program.py").read_text()
ASPECTS = ("error", "values")


def test_like_tensorflow_115(peer115: Peer) -> None:
    differences = compare_program(SOURCE, peer115, ASPECTS)
    assert not differences, "\n".join(differences)


def test_like_tensorflow_221(peer221: Peer) -> None:
    differences = compare_program(SOURCE, peer221, ASPECTS)
    assert not differences, "\n".join(differences)


def test_a_dtype_that_no_kernel_takes(peer115: Peer) -> None:
    """TensorFlow 1.15 looks for a device first, and 2.21 at the attr."""
    source = f"{SOURCE}\nresult = told('Softmax', [[1, 2]])"
    assert not compare_program(source, peer115, ASPECTS)
