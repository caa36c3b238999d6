"""Scanned handwritten digits: the data of the programs in this folder."""

import collections

import numpy as np
from sklearn import datasets

SHADES = " .:-=+*#%@"

Digits = collections.namedtuple(
    "Digits", ["train_images", "train_labels", "test_images", "test_labels"]
)


def load():
    """1437 digits to learn from and 360 to be tested on.

    Images are rows of 64 floats in [0, 1], of 8 lines with 8 pixels each; labels are
    0 to 9. It is scikit-learn's set, in an order that is always the same.
    """
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.data[order] / 16.0).astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    return Digits(images[360:], labels[360:], images[:360], labels[:360])


def batch(step, size, *arrays):
    """The rows of step number `step`: an epoch after the other, each in a new order.

    They depend on nothing but the step, so that a program that goes on from a
    checkpoint sees what it would have seen.
    """
    count = len(arrays[0])
    epoch, place = divmod(step, count // size)
    order = np.random.RandomState(epoch).permutation(count)
    rows = order[place * size : (place + 1) * size]
    return [array[rows] for array in arrays]


def as_text(images, columns=5):
    """Images as lines of characters, so many side by side."""
    levels = np.clip(np.rint(np.asarray(images) * 9), 0, 9).astype(int)
    lines = []
    for first in range(0, len(levels), columns):
        row = levels[first : first + columns].reshape([-1, 8, 8])
        for y in range(8):
            parts = ["".join(SHADES[level] * 2 for level in image[y]) for image in row]
            lines.append("|".join(parts))
        lines.append("+".join(["-" * 16] * len(row)))
    return "\n".join(lines)
