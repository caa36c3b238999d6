"""Host kernels of vocabularies in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument


def _words(name: str) -> list[bytes]:
    try:
        with open(name, "rb") as file:
            return [line.rstrip(b"\n") for line in file]
    except OSError as error:
        raise errors.NotFoundError(None, None, f"{name}; {error.strerror}") from None


@host_kernel("GenerateVocabRemapping", large=True)
def generate_vocab_remapping(c: OpKernelConstruction) -> Compute:
    """Old numbers of new words."""
    offset, count, old_size = (
        c["new_vocab_offset"],
        c["num_new_vocab"],
        c["old_vocab_size"],
    )

    def compute(new_file: Any, old_file: Any) -> tuple[Any, Any]:
        new = _words(new_file.item().decode())
        old = _words(old_file.item().decode())
        if len(new) < offset + count:
            raise invalid_argument(
                "lookup table size must be larger than last new vocab entry's line"
            )
        if old_size >= 0:
            old = old[:old_size]
        numbers: dict[bytes, int] = {}
        for number, word in enumerate(old):
            numbers.setdefault(word, number)
        chosen = new[offset : offset + count]
        remapping = np.array([numbers.get(word, -1) for word in chosen], np.int64)
        return remapping, np.int32((remapping >= 0).sum())

    return compute
