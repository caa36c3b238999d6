"""Records what TensorFlow 1.15 makes of a graph's seed in each program of a file.

`.venv-tf115/bin/python tests/peer/seed_recorder.py` writes the file that
`tests/client/derived_seeds.py` reads anew, with the same programs. Python 3.7.
"""

import sys
from pathlib import Path

import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parents[1] / "client"))
import derived_seeds  # noqa: E402


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    lines = [
        "{} => {}\n".format(program, derived_seeds.describe(tf, program))
        for program, _ in derived_seeds.read()
    ]
    derived_seeds.RECORDED.write_text("".join(lines))


if __name__ == "__main__":
    main()
