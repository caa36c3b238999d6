"""Decoders and detectors: loops that end by their values."""

import numpy as np
from graphs.recurrent import weights


def greedy_with_attention(tf):
    memory = tf.placeholder(tf.float32, [2, None, 4], name="memory")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    table = weights(tf, "table", [6, 4])
    out = weights(tf, "out", [8, 6], use_resource=True)
    mask = tf.sequence_mask(lengths, tf.shape(memory)[1])

    def body(t, token, h, done, tokens, scores):
        query = tf.tanh(h + tf.nn.embedding_lookup(table, token))
        energy = tf.reduce_sum(memory * tf.expand_dims(query, 1), 2)
        energy = tf.where(mask, energy, tf.fill(tf.shape(energy), -1e9))
        weight = tf.nn.softmax(energy)
        context = tf.reduce_sum(memory * tf.expand_dims(weight, 2), 1)
        logits = tf.matmul(tf.concat([query, context], 1), out)
        chosen = tf.argmax(logits, 1, output_type=tf.int32)
        chosen = tf.where(done, tf.zeros_like(chosen), chosen)
        done = tf.logical_or(done, tf.equal(chosen, 5))
        tokens, scores = (
            tokens.write(t, chosen),
            scores.write(t, tf.reduce_max(logits, 1)),
        )
        return t + 1, chosen, query, done, tokens, scores

    t, _, h, done, tokens, scores = tf.while_loop(
        lambda t, token, h, done, *arrays: tf.logical_and(
            t < 7, tf.logical_not(tf.reduce_all(done))
        ),
        body,
        [
            0,
            tf.ones([2], tf.int32),
            tf.zeros([2, 4]),
            tf.zeros([2], tf.bool),
            tf.TensorArray(tf.int32, 0, dynamic_size=True),
            tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False),
        ],
        back_prop=False,
    )
    memory_feed = np.cos(np.arange(24)).reshape(2, 3, 4)
    return [t, tf.transpose(tokens.stack()), scores.stack(), h, done], [
        {"memory:0": memory_feed, "lengths:0": [3, 1]},
        {"memory:0": -memory_feed, "lengths:0": [2, 3]},
    ]


def beam_search(tf):
    """Beams as [batch, beam]; the parents are followed back at the end."""
    start = tf.placeholder(tf.float32, [2, 4], name="start")
    change = weights(tf, "change", [4, 4])
    out = weights(tf, "out", [4, 5])
    beams = 3

    def expand(t, h, scores, ids, parents):
        h = tf.tanh(tf.tensordot(h, change, [[2], [0]]))
        h.set_shape([2, beams, 4])
        logp = tf.nn.log_softmax(tf.tensordot(h, out, [[2], [0]]))
        total = tf.reshape(tf.expand_dims(scores, 2) + logp, [2, beams * 5])
        scores, flat = tf.nn.top_k(total, beams)
        parent, word = flat // 5, flat % 5
        rows = tf.tile(tf.expand_dims(tf.range(2), 1), [1, beams])
        h = tf.gather_nd(h, tf.stack([rows, parent], 2))
        h = h + tf.expand_dims(tf.cast(word, tf.float32), 2) * 0.1
        return t + 1, h, scores, ids.write(t, word), parents.write(t, parent)

    first = tf.tile(tf.constant([[0.0, -1e9, -1e9]]), [2, 1])
    _, _, scores, ids, parents = tf.while_loop(
        lambda t, *rest: t < 4,
        expand,
        [
            tf.constant(0),
            tf.tile(tf.expand_dims(start, 1), [1, beams, 1]),
            first,
            tf.TensorArray(tf.int32, 4),
            tf.TensorArray(tf.int32, 4),
        ],
    )
    ids, parents = ids.stack(), parents.stack()

    def back(t, beam, path):
        rows = tf.tile(tf.expand_dims(tf.range(2), 1), [1, beams])
        place = tf.stack([rows, beam], 2)
        path = path.write(t, tf.gather_nd(ids[t], place))
        return t - 1, tf.gather_nd(parents[t], place), path

    beam = tf.tile(tf.expand_dims(tf.range(beams), 0), [2, 1])
    _, _, path = tf.while_loop(
        lambda t, *rest: t >= 0, back, [3, beam, tf.TensorArray(tf.int32, 4)]
    )
    return [scores, path.stack()], [
        {"start:0": [[0.1, 0.2, -0.5, 0.9], [1.0, -1.0, 0.4, 0.0]]}
    ]


def suppression_in_loop(tf):
    """Non-maximum suppression by hand: a loop over boxes with a cond inside."""
    boxes = tf.placeholder(tf.float32, [None, 4], name="boxes")
    scores = tf.placeholder(tf.float32, [None], name="scores")
    order = tf.nn.top_k(scores, tf.shape(scores)[0]).indices
    boxes_in_order = tf.gather(boxes, order)

    def overlap(box, others):
        top = tf.maximum(box[:2], others[:, :2])
        bottom = tf.minimum(box[2:], others[:, 2:])
        size = tf.maximum(bottom - top, 0.0)
        both = size[:, 0] * size[:, 1]

        def area(b):
            return (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])

        return both / (area(box) + area(others) - both)

    def body(i, kept, count):
        box = boxes_in_order[i]
        worst = tf.cond(
            count > 0,
            lambda: tf.reduce_max(overlap(box, tf.gather(boxes_in_order, kept))),
            lambda: tf.constant(0.0),
        )
        kept, count = tf.cond(
            worst < 0.5,
            lambda: (tf.concat([kept, [i]], 0), count + 1),
            lambda: (kept, count),
        )
        kept.set_shape([None])
        return i + 1, kept, count

    _, kept, count = tf.while_loop(
        lambda i, kept, count: i < tf.shape(boxes)[0],
        body,
        [0, tf.zeros([0], tf.int32), 0],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([None]),
            tf.TensorShape([]),
        ],
    )
    real = tf.image.non_max_suppression(boxes, scores, 10, 0.5)
    chosen = tf.gather(order, kept)
    return [chosen, count, real], [
        {
            "boxes:0": [
                [0, 0, 1, 1],
                [0, 0.1, 1, 1.1],
                [0, -0.1, 1, 0.9],
                [0, 10, 1, 11],
                [0, 10.1, 1, 11.1],
                [0, 100, 1, 101],
            ],
            "scores:0": [0.9, 0.75, 0.6, 0.95, 0.5, 0.3],
        },
        {"boxes:0": [[0, 0, 1, 1]], "scores:0": [0.2]},
    ]


def newton_until_converged(tf):
    a = tf.placeholder(tf.float64, [3], name="a")

    def body(x, old, count):
        return [0.5 * (x + a / x), x, count + 1]

    x, _, count = tf.while_loop(
        lambda x, old, count: tf.reduce_any(tf.abs(x - old) > 1e-9),
        body,
        [a, a * 2.0 + 1.0, 0],
        maximum_iterations=50,
    )
    return [x, count, *tf.gradients(x, a)], [{"a:0": [2.0, 9.0, 0.5]}]


def words_in_loop(tf):
    n = tf.placeholder(tf.int32, [], name="n")
    words = tf.constant(["the", "cat", "sat"])

    def body(i, text, lengths):
        text = tf.strings.join([text, words[i % 3]], " ")
        return i + 1, text, lengths.write(i, tf.strings.length(text))

    _, text, lengths = tf.while_loop(
        lambda i, *rest: i < n, body, [0, tf.constant(""), tf.TensorArray(tf.int32, n)]
    )
    upper = tf.map_fn(
        lambda w: tf.strings.regex_replace(w, "[aeiou]", "*"), words, dtype=tf.string
    )
    return [text, lengths.stack(), upper], [{"n:0": 4}, {"n:0": 1}]


PROGRAMS = [
    greedy_with_attention,
    beam_search,
    suppression_in_loop,
    newton_until_converged,
    words_in_loop,
]
