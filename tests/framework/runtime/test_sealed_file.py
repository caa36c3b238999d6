"""Files that tasks share: of a size that never changes."""

from __future__ import annotations

import os

import pytest

from tensorloom.framework.runtime import sealed_file


def test_the_size_is_fixed() -> None:
    file = sealed_file.make("test", 8192)
    try:
        for size in (0, 4096, 16384):
            with pytest.raises(OSError):
                os.ftruncate(file, size)
        sealed_file.check(file, 8192)
        with pytest.raises(ValueError, match="shorter than 8193"):
            sealed_file.check(file, 8193)
    finally:
        os.close(file)


def test_files_that_may_shrink_are_refused() -> None:
    file = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, 8192)
        with pytest.raises(ValueError, match="may shrink"):
            sealed_file.check(file, 8192)
    finally:
        os.close(file)
    reading, writing = os.pipe()
    with open(reading), open(writing, "w"), pytest.raises((OSError, ValueError)):
        sealed_file.check(reading, 0)
