"""Records what TensorFlow 1.15 makes of a graph's seed in each program of two files.

`.venv-tf115/bin/python tests/peer/seed_recorder.py` writes the files that
`tests/client/program/derived_seeds.py` reads anew, with the same programs. To add a
program, add a line `program => 0` first. Python 3.7.
"""

import sys
from pathlib import Path

import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parents[1] / "client" / "program"))
import derived_seeds


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    for path in (derived_seeds.RECORDED, derived_seeds.UNMET):
        lines = [
            f"{program} => {derived_seeds.describe(tf, program)}\n"
            for program, _ in derived_seeds.read(path)
        ]
        path.write_text("".join(lines))


if __name__ == "__main__":
    main()
