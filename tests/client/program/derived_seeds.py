"""What a program makes of a graph's seed: how many operations, and which seeds.

Runs under TensorFlow 1.15 (Python 3.7), which recorded `recorded/derived_seeds.txt`,
and here. A line of the file is a program, ` => `, the number of operations after it,
and the seeds that random ops took from it. A program sees the names of `_names`.
Programs that are known to differ here are in `recorded/derived_seeds_unmet.txt`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

_FOLDER = Path(__file__).parents[1] / "recorded"
RECORDED = _FOLDER / "derived_seeds.txt"
UNMET = _FOLDER / "derived_seeds_unmet.txt"
SEED = 7


def read(path):
    """(program, result) pairs of a file."""
    return [tuple(line.split(" => ")) for line in path.read_text().splitlines()]


def describe(tf, program):
    """The result of a program: "operations op:seed op:seed ..."."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(SEED)
        exec(program.replace("\\n", "\n"), _names(tf))
        graph_def = graph.as_graph_def()
        made = graph._last_id
    nodes = list(graph_def.node)
    for function in graph_def.library.function:
        nodes += function.node_def
    seeds = {(node.op, node.attr["seed2"].i) for node in nodes if "seed2" in node.attr}
    return " ".join([str(made), *(f"{op}:{seed}" for op, seed in sorted(seeds))])


def _names(tf):
    def ph(*shape, **kwargs):
        return tf.placeholder(kwargs.get("dt", "float32"), list(shape))

    return {
        "tf": tf,
        "np": np,
        "ph": ph,
        "x": ph(4, 3),
        "x2": ph(4, 3),
        "xu": ph(None, 3),
        "w2": ph(3, 2),
        "w3": ph(3, 3),
    }
