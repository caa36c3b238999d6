"""Small models that the tests serve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorloom as tf

PREDICT = "tensorflow/serving/predict"
REGRESS = "tensorflow/serving/regress"
CLASSIFY = "tensorflow/serving/classify"

DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool", "string"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("complex64", "complex128"),
)


def _info(tensor: Any) -> Any:
    return tf.saved_model.build_tensor_info(tensor)


def _signature(inputs: dict[str, Any], outputs: dict[str, Any], method: str) -> Any:
    return tf.saved_model.build_signature_def(
        {name: _info(tensor) for name, tensor in inputs.items()},
        {name: _info(tensor) for name, tensor in outputs.items()},
        method,
    )


def save(session: Any, path: Path, signatures: dict[str, Any]) -> None:
    """Writes the session's graph and variables."""
    builder = tf.saved_model.Builder(str(path))
    builder.add_meta_graph_and_variables(
        session, ["serve"], signature_def_map=signatures
    )
    builder.save()


def half_plus(base: Path, version: int, b: float = 2.0, size: int = 0) -> None:
    """y = x / 2 + b; for examples, too, where `x2` adds to it.

    `size`: bytes of a variable that nothing reads.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        a, c = tf.Variable(0.5, name="a"), tf.Variable(b, name="b")
        if size:
            tf.Variable(lambda: tf.ones([size // 4]), name="ballast")
        y = tf.add(a * x, c, name="y")
        examples = tf.placeholder(tf.string, [None], name="examples")
        parsed = tf.parse_example(
            examples,
            {
                "x": tf.FixedLenFeature([1], tf.float32),
                "x2": tf.FixedLenFeature([1], tf.float32, [0.0]),
            },
        )
        value = a * parsed["x"] + c + parsed["x2"]
        labels = tf.tile([["low", "high"]], [tf.shape(examples)[0], 1])
        scores = tf.concat([value, value + 1], 1)
        session.run(tf.global_variables_initializer())
        save(
            session,
            base / str(version),
            {
                "serving_default": _signature({"x": x}, {"y": y}, PREDICT),
                "regress": _signature(
                    {"inputs": examples}, {"outputs": value}, REGRESS
                ),
                "classify": _signature(
                    {"inputs": examples},
                    {"classes": labels, "scores": scores},
                    CLASSIFY,
                ),
                "odd": _signature({"x": x}, {"y": y}, "somebody/else"),
            },
        )


def every_dtype(base: Path, version: int = 1) -> None:
    """Gives each input back, stacked on itself; a signature for each dtype."""
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = {}
        for name in DTYPES:
            x = tf.placeholder(getattr(tf, name), None, name=f"x_{name}")
            y = tf.stack([x, x], name=f"y_{name}")
            signatures[name] = _signature({"x": x}, {"y": y}, PREDICT)
        save(session, base / str(version), signatures)


def moody(base: Path, version: int = 1) -> None:
    """Two inputs; a negative number in `x` loops for ever, one above 100 fails."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        names = tf.placeholder(tf.string, [None], name="names")
        looped = tf.while_loop(
            lambda v: tf.reduce_any(v < 0), lambda v: v * 1.0, [x], name="loop"
        )
        with tf.control_dependencies([tf.Assert(tf.reduce_all(x < 100), ["too high"])]):
            total = tf.reduce_sum(looped, 1, name="total")
        outputs = {"total": total, "names_bytes": tf.identity(names)}
        signature = _signature({"x": x, "names": names}, outputs, PREDICT)
        rows = _signature({"x": x}, {"total": total}, PREDICT)
        save(session, base / str(version), {"serving_default": signature, "rows": rows})


def greedy(base: Path, version: int = 1) -> None:
    """Takes as much memory as it is asked to, in float32s."""
    with tf.Graph().as_default(), tf.Session() as session:
        count = tf.placeholder(tf.int32, [], name="count")
        total = tf.reduce_sum(tf.cumsum(tf.fill([count], 1.0))[-1:], name="total")
        signature = _signature({"count": count}, {"total": total}, PREDICT)
        save(session, base / str(version), {"serving_default": signature})


def stuck(base: Path, version: int = 1) -> None:
    """A large matrix takes very long: torch's kernel cannot be interrupted."""
    with tf.Graph().as_default(), tf.Session() as session:
        size = tf.placeholder(tf.int32, [], name="size")
        x = tf.fill([size, size], 1.0)
        total = tf.reduce_sum(tf.linalg.svd(x, compute_uv=False), name="total")
        signature = _signature({"size": size}, {"total": total}, PREDICT)
        save(session, base / str(version), {"serving_default": signature})
