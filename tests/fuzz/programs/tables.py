"""The expressions that random programs are made of, by kind of value.

`{a}` and `{b}` are values of one kind: of its dtype and shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MATRIX, SCALAR, INTS = "M", "S", "I"
DOUBLES, FLAGS, TEXTS = "D", "B", "T"


@dataclass(frozen=True)
class Kind:
    """Values of one dtype and shape."""

    shape: str
    dtype: str
    start: str  # of a variable; {i} is its number
    #: What changes nothing.
    neutral: tuple[str, ...]
    unary: tuple[str, ...]
    binary: tuple[str, ...]
    #: Neutral or not, these give memory of their own.
    own: tuple[str, ...]
    updates: tuple[str, ...] = ("assign", "assign_add", "assign_sub")
    #: Something to add or assign, besides a value; neutral to a sum.
    zero: str = "0."
    feed: str = "tf.zeros({shape})"

    @property
    def zeros(self) -> str:
        """A tensor of zeros of this kind."""
        return f"tf.zeros({self.shape}, {self.dtype})"


# Of [2, 3] and any dtype with a sum.
_SHAPED: Final = (
    *("tf.identity({a})", "tf.reshape({a}, tf.shape({a}))", "tf.reshape({a}, [2, 3])"),
    *("tf.transpose(tf.transpose({a}))", "tf.concat([{a}], 0)"),
    *("tf.squeeze(tf.expand_dims({a}, 0), 0)", "tf.tile({a}, [1, 1])"),
    *("tf.slice({a}, [0, 0], [2, 3])", "tf.stop_gradient({a})"),
    *("tf.unstack({a}[None])[0]", "tf.reshape(tf.reshape({a}, [6]), [2, 3])"),
    *("tf.where(tf.ones([2, 3], tf.bool), {a}, {a})", "tf.gather({a}, [0, 1])"),
    *("tf.reverse(tf.reverse({a}, [0]), [0])", "tf.concat([{a}[:1], {a}[1:]], 0)"),
    *("tf.concat(tf.split({a}, 3, 1), 1)", "{a}[:, :]"),
)
_SUMMED: Final = (
    *("tf.negative(tf.negative({a}))", "tf.reduce_sum({a}, axis=[])"),
    *("tf.add_n([{a}])", "tf.pad({a}, [[0, 0], [0, 0]])", "{a} + tf.zeros_like({a})"),
    *("{a} * tf.ones_like({a})", "tf.reduce_max({a}[None], axis=0)"),
)

_FLOAT_MATRIX = Kind(
    "[2, 3]",
    "tf.float32",
    "tf.constant([[{i}., 2., 0.]] * 2)",
    neutral=(
        *("{a} + 0.", "0. + {a}", "{a} * 1.", "1. * {a}", "{a} - 0.", "{a} / 1."),
        *("{a} + tf.zeros([2, 3])", "tf.zeros([2, 3]) + {a}", "tf.ones([2, 3]) * {a}"),
        *("tf.pow({a}, 1.)", "tf.broadcast_to({a}, [2, 3])"),
        *("tf.zeros(tf.shape({a})) + {a}", "tf.fill([2, 3], 0.) + {a}"),
        *("tf.matmul({a}, tf.eye(3))", "tf.nn.bias_add({a}, tf.zeros([3]))"),
        *_SHAPED,
        *_SUMMED,
    ),
    unary=(
        *("tf.tanh({a})", "tf.sin({a})", "{a} * .5", "tf.negative({a})"),
        *("tf.nn.relu({a})", "{a} + 1.5", "tf.maximum({a}, .25)", "tf.abs({a})"),
        *("tf.sigmoid({a})", "tf.square(tf.sin({a}))", "tf.nn.softmax({a})"),
        *("tf.cumsum({a}, 1) * .3", "{a}[::-1]", "{a} * [1., 0., 2.]"),
    ),
    binary=(
        *("{a} + {b}", "{a} - {b}", "{a} * tf.tanh({b})", "tf.maximum({a}, {b})"),
        *("tf.add_n([{a}, {b}, {a}]) / 3.", "tf.where({a} > {b}, {a}, {b})"),
        *("tf.zeros_like({b}) + {a}", "tf.tuple([{a}, {b}])[0]"),
        *("tf.concat([{a}, {b}], 0)[1:3]", "tf.stack([{a}, {b}])[1]"),
        *("tf.unstack(tf.stack([{a}, {b}]))[0]", "({a} + {b}) * 0. + {a}"),
        "tf.matmul({a}, tf.tanh({b}), transpose_b=True)[:, :1] + {a}",
    ),
    own=(
        *("{a} + 0.", "{a} * 1.", "{a} - 0.", "tf.zeros([2, 3]) + {a}", "{a} * .5"),
        *("tf.tanh({a})", "tf.maximum({a}, .25)", "{a} + 1.", "tf.negative({a})"),
    ),
)
_FLOAT_SCALAR = Kind(
    "[]",
    "tf.float32",
    "tf.constant({i}.)",
    neutral=(
        *("{a} + 0.", "{a} * 1.", "{a} - tf.constant(0.)", "tf.identity({a})"),
        *("tf.reshape({a}, [])", "tf.negative(tf.negative({a}))"),
        *("tf.zeros([]) + {a}", "tf.reduce_sum({a})"),
        "tf.pow({a}, 1.)",
    ),
    unary=(
        *("tf.tanh({a})", "tf.sin({a})", "{a} * .5", "tf.negative({a})"),
        *("tf.nn.relu({a})", "{a} + 1.5", "tf.maximum({a}, .25)", "tf.abs({a})"),
        *("tf.sigmoid({a})", "tf.square(tf.sin({a}))"),
        "tf.cast(tf.cast({a}, tf.float64), tf.float32)",
    ),
    binary=("{a} + {b}", "{a} - {b}", "{a} * tf.tanh({b})", "tf.minimum({a}, {b})"),
    own=(
        *("{a} + 0.", "{a} * 1.", "{a} - 0.", "tf.zeros([]) + {a}", "{a} * .5"),
        *("tf.tanh({a})", "tf.maximum({a}, .25)", "{a} + 1.", "tf.negative({a})"),
    ),
)
_INTS = Kind(
    "[2, 3]",
    "tf.int32",
    "tf.constant([[{i}, 2, 0]] * 2)",
    neutral=(
        *("{a} + 0", "0 + {a}", "{a} * 1", "1 * {a}", "{a} - 0", "{a} // 1"),
        *("{a} + tf.zeros([2, 3], tf.int32)", "tf.ones([2, 3], tf.int32) * {a}"),
        *("tf.raw_ops.Snapshot(input={a})", "tf.bitwise.bitwise_or({a}, 0)"),
        "tf.cast(tf.cast({a}, tf.int64), tf.int32)",
        *_SHAPED,
        *_SUMMED,
    ),
    unary=(
        *("tf.floormod({a} * 3, 17)", "tf.negative({a})", "tf.abs({a})", "{a} // 2"),
        *("tf.maximum({a}, 1)", "tf.clip_by_value({a}, -9, 9)", "{a} + 2", "{a}[::-1]"),
        *("tf.bitwise.invert({a})", "tf.cumsum({a}, 1) // 2", "{a} * [1, 0, 2] // 2"),
    ),
    binary=(
        *(
            "{a} + {b}",
            "{a} - {b}",
            "tf.floormod({a} * {b}, 11)",
            "tf.minimum({a}, {b})",
        ),
        *("tf.where({a} > {b}, {a}, {b})", "tf.add_n([{a}, {b}]) // 2"),
        *(
            "tf.concat([{a}, {b}], 0)[1:3]",
            "tf.gather({a}, tf.floormod({b}[0, :2], 2))",
        ),
    ),
    own=("{a} + 0", "{a} * 1", "{a} + 1", "tf.negative({a})", "tf.maximum({a}, 1)"),
    zero="0",
)
_DOUBLES = Kind(
    "[2, 3]",
    "tf.float64",
    "tf.constant([[{i}., 2., 0.]] * 2, tf.float64)",
    neutral=(
        *("{a} + 0.", "{a} * 1.", "{a} - 0.", "{a} / 1.", "tf.pow({a}, 1.)"),
        *_SHAPED,
        *_SUMMED,
    ),
    unary=("tf.tanh({a})", "{a} * .5", "{a} + 1.5", "tf.sqrt(tf.abs({a}) + 1.)"),
    binary=("{a} + {b}", "{a} - {b}", "{a} * tf.tanh({b})", "tf.maximum({a}, {b})"),
    own=("{a} + 0.", "{a} * 1.", "{a} + 1.", "tf.negative({a})"),
)
_FLAGS = Kind(
    "[2, 3]",
    "tf.bool",
    "tf.constant([[True, False, True]] * 2)",
    neutral=(
        *("tf.logical_and({a}, True)", "tf.logical_or({a}, False)"),
        *("tf.logical_not(tf.logical_not({a}))", "tf.logical_or({a}, {a})"),
        *("tf.equal({a}, True)", "tf.not_equal({a}, False)"),
        *_SHAPED,
    ),
    unary=(
        "tf.logical_not({a})",
        "{a}[::-1]",
        "tf.logical_xor({a}, [True, False, True])",
    ),
    binary=(
        *("tf.logical_and({a}, {b})", "tf.logical_or({a}, {b})"),
        *("tf.logical_xor({a}, {b})", "tf.equal({a}, {b})", "tf.where({a}, {b}, {a})"),
    ),
    own=(
        "tf.logical_and({a}, True)",
        "tf.logical_not({a})",
        "tf.logical_or({a}, False)",
    ),
    updates=("assign",),
    zero="False",
)
_TEXTS = Kind(
    "[2, 3]",
    "tf.string",
    'tf.constant([["a{i}", "", "c"]] * 2)',
    neutral=(
        *("tf.strings.join([{a}, ''])", "tf.strings.substr({a}, 0, 1000)"),
        *_SHAPED,
    ),
    unary=(
        *("tf.strings.join([{a}, 'x'])", "tf.strings.substr({a}, 0, 3)", "{a}[::-1]"),
        "tf.strings.regex_replace({a}, '[xc]', 'y')",
    ),
    binary=(
        *("tf.strings.join([{a}, tf.strings.substr({b}, 0, 2)])", "{b}"),
        "tf.where(tf.equal({a}, {b}), {a}, {b})",
    ),
    own=("tf.strings.join([{a}, ''])", "tf.strings.join([{a}, 'z'])"),
    updates=("assign",),
    zero="''",
)
KINDS: Final = {
    MATRIX: _FLOAT_MATRIX,
    SCALAR: _FLOAT_SCALAR,
    INTS: _INTS,
    DOUBLES: _DOUBLES,
    FLAGS: _FLAGS,
    TEXTS: _TEXTS,
}

#: To a scalar, of a matrix.
REDUCE: Final = (
    *("tf.reduce_mean({a})", "tf.reduce_max({a})", "tf.reduce_sum({a}) * .1"),
    *("{a}[0, 1]", "tf.cast(tf.size({a}), tf.float32)"),
    "tf.cast(tf.reduce_sum(tf.shape({a})), tf.float32)",
)
#: From kind to kind. What jumps is not where results of round numbers lie.
CONVERSIONS: Final = (
    (MATRIX, INTS, "tf.cast(tf.floor(tf.tanh({a}) * 3. + .371), tf.int32)"),
    (MATRIX, INTS, "tf.cast(tf.argsort({a} * 0. + [3., 1., 2.]), tf.int32)"),
    (INTS, MATRIX, "tf.cast({a}, tf.float32)"),
    (INTS, MATRIX, "tf.tanh(tf.to_float({a}) * .1)"),
    (MATRIX, DOUBLES, "tf.cast({a}, tf.float64)"),
    (DOUBLES, MATRIX, "tf.cast({a}, tf.float32)"),
    (INTS, DOUBLES, "tf.cast({a}, tf.float64) * .5"),
    (MATRIX, FLAGS, "{a} > .1234"),
    (INTS, FLAGS, "{a} > 1"),
    (INTS, FLAGS, "tf.equal(tf.floormod({a}, 2), 0)"),
    (FLAGS, MATRIX, "tf.where({a}, tf.ones([2, 3]), tf.zeros([2, 3]))"),
    (FLAGS, INTS, "tf.cast({a}, tf.int32)"),
    (INTS, TEXTS, "tf.as_string({a})"),
    (FLAGS, TEXTS, "tf.as_string({a})"),
    (TEXTS, INTS, "tf.strings.length({a})"),
    (TEXTS, INTS, "tf.cast(tf.strings.to_hash_bucket_fast({a}, 7), tf.int32)"),
    (TEXTS, FLAGS, "tf.equal({a}, 'c')"),
    (SCALAR, MATRIX, "tf.fill([2, 3], {a})"),
    (SCALAR, INTS, "tf.fill([2, 3], tf.cast(tf.floor({a} + .371), tf.int32))"),
)
#: What decides a branch, besides flags.
PREDICATES: Final = (
    *("s > 0.", "tf.reduce_sum(y) > 2.", "x[0, 0] < 0.", "tf.constant(True)"),
    *("tf.constant(3) < 2", "tf.logical_not(s > 0.)", "tf.shape(x)[0] > 1"),
)
