"""One line for each op whose gradient's operations were recorded from TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """The gradient of `function(tf, x)`, with `x` a float placeholder, by `x`."""

    name: str
    function: Callable[[Any, Any], Any]
    shape: tuple[Any, ...]

    def build(self, tf: Any) -> None:
        """Adds the operations to the default graph."""
        x = tf.placeholder(tf.float32, list(self.shape), name="x")
        ys = self.function(tf, x)
        ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
        tf.gradients(ys, x)


CASES = (
    Case(
        "moments",
        lambda tf, x: tf.nn.moments(x, [0]),
        (
            4,
            3,
        ),
    ),
    Case(
        "bn",
        lambda tf, x: tf.nn.batch_normalization(
            x, *tf.nn.moments(x, [0]), offset=None, scale=None, variance_epsilon=1e-3
        ),
        (
            4,
            3,
        ),
    ),
    Case(
        "fbn",
        lambda tf, x: tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))[0],
        (
            2,
            4,
            4,
            3,
        ),
    ),
    Case(
        "lrn",
        lambda tf, x: tf.nn.lrn(x),
        (
            2,
            4,
            4,
            3,
        ),
    ),
    Case(
        "l2n",
        lambda tf, x: tf.nn.l2_normalize(x, 1),
        (
            4,
            3,
        ),
    ),
    Case(
        "deconv",
        lambda tf, x: tf.nn.conv2d_transpose(
            x, tf.ones([3, 3, 2, 3]), [2, 8, 8, 2], [1, 2, 2, 1]
        ),
        (
            2,
            4,
            4,
            3,
        ),
    ),
    Case(
        "dwconv",
        lambda tf, x: tf.nn.depthwise_conv2d(
            x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME"
        ),
        (
            2,
            4,
            4,
            3,
        ),
    ),
    Case(
        "topk",
        lambda tf, x: tf.nn.top_k(x, 2)[0],
        (
            4,
            5,
        ),
    ),
    Case(
        "cumsum",
        lambda tf, x: tf.cumsum(x, axis=1),
        (
            4,
            5,
        ),
    ),
    Case(
        "cumprod",
        lambda tf, x: tf.cumprod(x, axis=1),
        (
            4,
            5,
        ),
    ),
    Case(
        "segsum",
        lambda tf, x: tf.segment_sum(x, [0, 0, 1, 1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "useg",
        lambda tf, x: tf.unsorted_segment_sum(x, [0, 0, 1, 1], 3),
        (
            4,
            5,
        ),
    ),
    Case(
        "segmean",
        lambda tf, x: tf.segment_mean(x, [0, 0, 1, 1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "segmax",
        lambda tf, x: tf.segment_max(x, [0, 0, 1, 1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "gathernd",
        lambda tf, x: tf.gather_nd(x, [[0, 1], [2, 3]]),
        (
            4,
            5,
        ),
    ),
    Case(
        "gathernd2",
        lambda tf, x: tf.gather_nd(x, [[0], [2]]),
        (
            4,
            5,
        ),
    ),
    Case(
        "scatternd",
        lambda tf, x: tf.scatter_nd([[1], [3]], x, [5, 3]),
        (
            2,
            3,
        ),
    ),
    Case(
        "gatherax",
        lambda tf, x: tf.gather(x, [1, 0], axis=1),
        (
            4,
            5,
        ),
    ),
    Case(
        "boolmask",
        lambda tf, x: tf.boolean_mask(x, [True, False, True, True]),
        (
            4,
            5,
        ),
    ),
    Case(
        "dynpart",
        lambda tf, x: tf.dynamic_partition(x, [0, 1, 0, 1], 2),
        (
            4,
            5,
        ),
    ),
    Case(
        "dynst",
        lambda tf, x: tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]]),
        (
            4,
            5,
        ),
    ),
    Case(
        "prod",
        lambda tf, x: tf.reduce_prod(x, 1),
        (
            4,
            5,
        ),
    ),
    Case(
        "rmin",
        lambda tf, x: tf.reduce_min(x, [0, 1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "lse",
        lambda tf, x: tf.reduce_logsumexp(x, 1),
        (
            4,
            5,
        ),
    ),
    Case(
        "rany",
        lambda tf, x: tf.reduce_mean(x, [0, -1], keepdims=True),
        (
            4,
            5,
            3,
        ),
    ),
    Case(
        "rsum0",
        lambda tf, x: tf.reduce_sum(x),
        (
            None,
            5,
        ),
    ),
    Case(
        "rmean0",
        lambda tf, x: tf.reduce_mean(x, 0),
        (
            None,
            5,
        ),
    ),
    Case(
        "reverse",
        lambda tf, x: tf.reverse(x, [1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "einsum",
        lambda tf, x: tf.einsum("ij,jk->ik", x, tf.ones([5, 2])),
        (
            4,
            5,
        ),
    ),
    Case(
        "tdot",
        lambda tf, x: tf.tensordot(x, tf.ones([5, 2]), 1),
        (
            3,
            4,
            5,
        ),
    ),
    Case(
        "norm",
        lambda tf, x: tf.norm(x),
        (
            4,
            5,
        ),
    ),
    Case(
        "bmm",
        lambda tf, x: tf.matmul(x, x, transpose_b=True),
        (
            2,
            4,
            5,
        ),
    ),
    Case(
        "slice",
        lambda tf, x: tf.slice(x, [1, 0], [2, 3]),
        (
            4,
            5,
        ),
    ),
    Case(
        "ss",
        lambda tf, x: x[::2, tf.newaxis, -1],
        (
            4,
            5,
        ),
    ),
    Case(
        "ss2",
        lambda tf, x: x[..., 1:3],
        (
            4,
            5,
            6,
        ),
    ),
    Case(
        "splitv",
        lambda tf, x: tf.split(x, [1, 3], 0),
        (
            4,
            5,
        ),
    ),
    Case(
        "concat",
        lambda tf, x: tf.concat([x, x * 2.0, x], 1),
        (
            4,
            5,
        ),
    ),
    Case(
        "stack",
        lambda tf, x: tf.stack([x, x * 2.0], 1),
        (
            4,
            5,
        ),
    ),
    Case(
        "unstack",
        lambda tf, x: tf.unstack(x, axis=0)[1:3],
        (
            4,
            5,
        ),
    ),
    Case(
        "pad",
        lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT"),
        (
            4,
            5,
        ),
    ),
    Case(
        "mirror",
        lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], "SYMMETRIC"),
        (
            4,
            5,
        ),
    ),
    Case(
        "tile",
        lambda tf, x: tf.tile(x, [2, 1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "bcto",
        lambda tf, x: tf.broadcast_to(x, [3, 4, 5]),
        (
            4,
            5,
        ),
    ),
    Case(
        "sq",
        lambda tf, x: tf.squeeze(tf.expand_dims(x, 1)),
        (
            4,
            5,
        ),
    ),
    Case(
        "transp",
        lambda tf, x: tf.transpose(x, [1, 0]),
        (
            4,
            5,
        ),
    ),
    Case(
        "reshape",
        lambda tf, x: tf.reshape(x, [2, -1]),
        (
            4,
            5,
        ),
    ),
    Case(
        "act",
        lambda tf, x: (
            tf.nn.elu(x)
            + tf.nn.selu(x)
            + tf.nn.relu6(x)
            + tf.nn.leaky_relu(x)
            + tf.nn.softplus(x)
            + tf.nn.softsign(x)
            + tf.nn.swish(x)
        ),
        (
            4,
            5,
        ),
    ),
    Case(
        "sm",
        lambda tf, x: tf.nn.softmax(x) + tf.nn.log_softmax(x),
        (
            4,
            5,
        ),
    ),
    Case(
        "trig",
        lambda tf, x: (
            tf.tan(x)
            + tf.asin(x)
            + tf.acos(x)
            + tf.atan(x)
            + tf.sinh(x)
            + tf.cosh(x)
            + tf.asinh(x)
            + tf.acosh(x + 2.0)
            + tf.atanh(x)
            + tf.atan2(x, x + 1.0)
        ),
        (4,),
    ),
    Case(
        "exps",
        lambda tf, x: (
            tf.expm1(x)
            + tf.log1p(x)
            + tf.rsqrt(x)
            + tf.reciprocal(x)
            + tf.square(x)
            + tf.erf(x)
            + tf.erfc(x)
            + tf.lgamma(x)
            + tf.digamma(x)
            + tf.sign(x)
            + tf.floor(x)
            + tf.round(x)
            + tf.ceil(x)
        ),
        (4,),
    ),
    Case(
        "divs",
        lambda tf, x: (
            tf.div(x, 2.0)
            + x / 3.0
            + tf.floordiv(x, 2.0)
            + tf.mod(x, 2.0)
            + tf.div_no_nan(x, x)
            + tf.truediv(1.0, x)
            + 2.0
            - x
            + x**2
            + 2.0**x
        ),
        (4,),
    ),
    Case(
        "cmp",
        lambda tf, x: (
            tf.where(x > 1.0, x, x * 2.0)
            + tf.maximum(x, 0.5)
            + tf.minimum(0.5, x)
            + tf.clip_by_value(x, 0.0, 1.0)
            + tf.clip_by_norm(x, 1.0)
        ),
        (4,),
    ),
    Case("cbg", lambda tf, x: tf.clip_by_global_norm([x, x * x], 1.0)[0], (4,)),
    Case(
        "drop",
        lambda tf, x: tf.nn.dropout(x, keep_prob=0.5, seed=1),
        (
            4,
            5,
        ),
    ),
    Case(
        "addn",
        lambda tf, x: tf.add_n([x, x * x, x]),
        (
            4,
            5,
        ),
    ),
    Case(
        "accn",
        lambda tf, x: tf.accumulate_n([x, x * x, x]),
        (
            4,
            5,
        ),
    ),
    Case(
        "cast",
        lambda tf, x: tf.cast(tf.cast(x, tf.float64) * 2.0, tf.float32),
        (
            4,
            5,
        ),
    ),
    Case(
        "onehot",
        lambda tf, x: tf.one_hot([0, 1], 3, on_value=x[0], off_value=x[1]),
        (4,),
    ),
    Case("mdiag", lambda tf, x: tf.matrix_diag(x) + tf.diag(x), (4,)),
    Case(
        "mdiagp",
        lambda tf, x: tf.matrix_diag_part(x) + tf.diag_part(x) + tf.trace(x),
        (
            4,
            4,
        ),
    ),
    Case(
        "band",
        lambda tf, x: tf.matrix_band_part(x, 1, 0),
        (
            4,
            4,
        ),
    ),
    Case(
        "conv1",
        lambda tf, x: tf.nn.conv1d(x, tf.ones([3, 2, 4]), 1, "SAME"),
        (
            2,
            6,
            2,
        ),
    ),
    Case(
        "pool",
        lambda tf, x: (
            tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
            + tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
        ),
        (
            2,
            4,
            4,
            3,
        ),
    ),
    Case(
        "emb",
        lambda tf, x: tf.nn.embedding_lookup([x, x * 2.0], [0, 1, 2, 3]),
        (
            4,
            5,
        ),
    ),
    Case(
        "embsp",
        lambda tf, x: tf.nn.embedding_lookup_sparse(
            x,
            tf.SparseTensor([[0, 0], [1, 0]], tf.constant([1, 2], tf.int64), [2, 2]),
            None,
            combiner="mean",
        ),
        (
            4,
            5,
        ),
    ),
    Case(
        "rev_seq",
        lambda tf, x: tf.reverse_sequence(x, [1, 2, 3, 4], seq_axis=1),
        (
            4,
            5,
        ),
    ),
    Case(
        "s2b",
        lambda tf, x: tf.space_to_batch(x, [[0, 0], [0, 0]], 2),
        (
            2,
            4,
            4,
            3,
        ),
    ),
    Case(
        "d2s",
        lambda tf, x: tf.depth_to_space(x, 2),
        (
            2,
            4,
            4,
            4,
        ),
    ),
    Case(
        "wce",
        lambda tf, x: tf.nn.weighted_cross_entropy_with_logits(
            labels=tf.ones([4, 5]), logits=x, pos_weight=2.0
        ),
        (
            4,
            5,
        ),
    ),
    Case("chk", lambda tf, x: tf.check_numerics(x, "m") * 2.0, (4,)),
    Case("ensure", lambda tf, x: tf.ensure_shape(x, [4]) * 2.0, (4,)),
    Case("stopg", lambda tf, x: tf.stop_gradient(x) * x, (4,)),
    Case("idn", lambda tf, x: tf.identity_n([x, x * 2.0]), (4,)),
    Case("tup", lambda tf, x: tf.tuple([x, x * 2.0]), (4,)),
    Case("mesh", lambda tf, x: tf.meshgrid(x, x), (4,)),
    Case("linsp", lambda tf, x: tf.linspace(0.0, 1.0, 4) * x, (4,)),
    Case(
        "bias",
        lambda tf, x: tf.nn.bias_add(x, tf.ones([5])),
        (
            4,
            5,
        ),
    ),
    Case(
        "xwb",
        lambda tf, x: tf.nn.xw_plus_b(x, tf.ones([5, 2]), tf.ones([2])),
        (
            4,
            5,
        ),
    ),
    Case(
        "dyn",
        lambda tf, x: (x + tf.ones([5])) * x[0],
        (
            None,
            5,
        ),
    ),
    Case(
        "dyn2",
        lambda tf, x: (
            (x + 1.0)
            * tf.reduce_sum(x, 1, keepdims=True)
            / tf.cast(tf.shape(x)[0], tf.float32)
        ),
        (
            None,
            None,
        ),
    ),
)
