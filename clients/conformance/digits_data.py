"""Writes handwritten digits for the programs that train: 1797 of 8 by 8 pixels.

Usage: python clients/conformance/digits_data.py FILE

The file has the count as an int32; the pixels of each image, 64 floats from 0 to 1; the
labels as int32s. All are little-endian. The images are shuffled.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def main(path: str) -> None:
    """Scales, shuffles and writes the digits."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    images = (digits.data[order] / 16).astype("<f4")
    labels = digits.target[order].astype("<i4")
    count = np.array(len(labels), "<i4")
    Path(path).write_bytes(count.tobytes() + images.tobytes() + labels.tobytes())


if __name__ == "__main__":
    main(sys.argv[1])
