"""A small BERT: an encoder that fills in words which are hidden, as a TPUEstimator.

    tensorloom run examples/contrib/bert.py

Two sentences follow each other, and the second says the first in another language
(made up, word for word). Some words are hidden; whoever looks at the other sentence,
and knows the words, can tell them. The interface is that of programs for TPUs, with
`use_tpu=False`: `TPUEstimatorSpec`, metrics in a function, a batch size in `params`,
and an optimizer that would sum the gradients of a TPU's cores.

Quality: accuracy of hidden words at least 0.97
"""

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 800, "steps of training")
flags.DEFINE_string("model_dir", "", "directory of the model; empty: a new one")
flags.DEFINE_bool("use_tpu", False, "whether to run on TPUs")
FLAGS = flags.FLAGS

PAD, CLS, SEP, MASK = 0, 1, 2, 3  # before the words of both languages
NAMES = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
FIRST = ["sun", "sea", "red", "dog", "sky", "ice", "tea", "owl", "fig", "ash"]
SECOND = ["sol", "mar", "rok", "kan", "cel", "gel", "cha", "bub", "hig", "fra"]
VOCABULARY = NAMES + FIRST + SECOND
SHORTEST, LONGEST = 3, 6  # words of a sentence
LENGTH = 2 * LONGEST + 3
HIDDEN = 3  # words to be told, at most
BATCH = 32

SETTINGS = {
    "width": 32,
    "heads": 4,
    "layers": 2,
    "dropout": 0.1,
    "learning_rate": 0.004,
    "warmup": 50,  # steps
    "steps": 0,  # as the flag says
}


def sentences(count, seed):
    """Features by name: pairs of sentences with hidden words, and which those are."""
    random = np.random.RandomState(seed)
    found = {
        "input_ids": np.full([count, LENGTH], PAD, np.int32),
        "segment_ids": np.zeros([count, LENGTH], np.int32),
        "masked_positions": np.zeros([count, HIDDEN], np.int32),
        "masked_ids": np.zeros([count, HIDDEN], np.int32),
        "masked_weights": np.zeros([count, HIDDEN], np.float32),
    }
    for row in range(count):
        length = random.randint(SHORTEST, LONGEST + 1)
        words = random.randint(len(FIRST), size=length) + len(NAMES)
        pair = [CLS, *words, SEP, *(words + len(FIRST)), SEP]
        hidden = random.choice(length, min(HIDDEN, length - 1), replace=False)
        # In one sentence or the other: never a word and its translation.
        places = 1 + hidden + (length + 1) * random.randint(2, size=len(hidden))
        found["segment_ids"][row, length + 2 : len(pair)] = 1
        found["masked_positions"][row, : len(places)] = places
        found["masked_ids"][row, : len(places)] = [pair[place] for place in places]
        found["masked_weights"][row, : len(places)] = 1.0
        found["input_ids"][row, : len(pair)] = pair
        found["input_ids"][row, places] = MASK
    return found


def initializer():
    return tf.truncated_normal_initializer(stddev=0.05)


def dense(x, units, name, activation=None):
    return tf.layers.dense(
        x, units, activation, kernel_initializer=initializer(), name=name
    )


def gelu(x):
    """The Gaussian error linear unit."""
    return 0.5 * x * (1.0 + tf.erf(x / np.sqrt(2.0)))


def attention(x, allowed, heads):
    """Each place looks at those that are allowed: [batch, length, width] again."""
    batch, width = tf.shape(x)[0], x.shape[2].value

    def split(name):
        parts = tf.reshape(
            dense(x, width, name), [batch, LENGTH, heads, width // heads]
        )
        return tf.transpose(parts, [0, 2, 1, 3])

    query, key, value = split("query"), split("key"), split("value")
    scores = tf.matmul(query, key, transpose_b=True) / np.sqrt(width / heads)
    shares = tf.nn.softmax(scores + (1.0 - allowed) * -10000.0)
    seen = tf.transpose(tf.matmul(shares, value), [0, 2, 1, 3])
    return tf.reshape(seen, [batch, LENGTH, width])


def add_and_norm(x, change, kept):
    return tf.contrib.layers.layer_norm(
        x + tf.nn.dropout(change, keep_prob=kept), begin_norm_axis=-1
    )


def encoder(features, kept, params):
    """What the encoder makes of each place, and the table of the words."""
    width = params["width"]
    ids = features["input_ids"]
    with tf.variable_scope("embeddings"):
        words = tf.get_variable(
            "words", [len(VOCABULARY), width], initializer=initializer()
        )
        places = tf.get_variable("places", [LENGTH, width], initializer=initializer())
        segments = tf.get_variable("segments", [2, width], initializer=initializer())
        x = tf.nn.embedding_lookup(words, ids) + places
        x += tf.nn.embedding_lookup(segments, features["segment_ids"])
        x = tf.contrib.layers.layer_norm(x, begin_norm_axis=-1)
    allowed = tf.cast(tf.not_equal(ids, PAD), tf.float32)[:, tf.newaxis, tf.newaxis]
    for layer in range(params["layers"]):
        with tf.variable_scope("layer_%d" % layer):
            with tf.variable_scope("attention"):
                seen = attention(x, allowed, params["heads"])
                x = add_and_norm(x, dense(seen, width, "output"), kept)
            with tf.variable_scope("feed_forward"):
                inner = dense(x, 4 * width, "inner", gelu)
                x = add_and_norm(x, dense(inner, width, "output"), kept)
    return x, words


def hidden_words(features, kept, params):
    """Logits [batch, HIDDEN, words] of the words that are hidden."""
    x, words = encoder(features, kept, params)
    at = tf.batch_gather(x, features["masked_positions"])
    with tf.variable_scope("predictions"):
        at = dense(at, params["width"], "transform", gelu)
        at = tf.contrib.layers.layer_norm(at, begin_norm_axis=-1)
        bias = tf.get_variable(
            "bias", [len(VOCABULARY)], initializer=tf.zeros_initializer()
        )
        return tf.tensordot(at, words, [[2], [1]]) + bias


def train_operation(loss, params):
    """A step of Adam, whose rate rises for a while and falls to zero at the end."""
    step = tf.train.get_global_step()
    rate = tf.train.polynomial_decay(
        params["learning_rate"], step, params["steps"], 0.0
    )
    rate *= tf.minimum(1.0, tf.cast(step + 1, tf.float32) / params["warmup"])
    optimizer = tf.train.AdamOptimizer(rate)
    if params["use_tpu"]:  # the estimator says so
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    return optimizer.apply_gradients(zip(gradients, variables), global_step=step)


def model_fn(features, labels, mode, params):
    """The model, as a TPUEstimator asks for it."""
    del labels  # the hidden words are among the features, as in BERT
    training = mode == tf.estimator.ModeKeys.TRAIN
    kept = 1.0 - params["dropout"] if training else 1.0
    logits = hidden_words(features, kept, params)
    predicted = tf.argmax(logits, axis=-1, output_type=tf.int32)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, predictions={"words": predicted, **features}
        )
    ids, weights = features["masked_ids"], features["masked_weights"]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits)
    loss = tf.reduce_sum(losses * weights) / (tf.reduce_sum(weights) + 1e-5)
    if training:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=train_operation(loss, params)
        )

    def metric_fn(ids, predicted, weights):
        return {"accuracy": tf.metrics.accuracy(ids, predicted, weights)}

    return tf.contrib.tpu.TPUEstimatorSpec(
        mode, loss=loss, eval_metrics=(metric_fn, [ids, predicted, weights])
    )


def input_fn_of(data, training):
    """An input function; the batch size comes from the estimator."""

    def input_fn(params):
        examples = tf.data.Dataset.from_tensor_slices(data)
        if training:
            examples = examples.shuffle(len(data["input_ids"]), seed=1).repeat()
        return examples.batch(params["batch_size"], drop_remainder=True)

    return input_fn


def show(prediction):
    """A pair of sentences, with what is said to be hidden in it."""
    words = [VOCABULARY[i] for i in prediction["input_ids"] if i != PAD]
    places = prediction["masked_positions"][prediction["masked_weights"] > 0]
    for place, said in zip(places, prediction["words"]):
        words[place] = "<%s>" % VOCABULARY[said]
    return " ".join(words)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    training_data, test_data = sentences(8000, seed=1), sentences(512, seed=2)
    config = tf.contrib.tpu.RunConfig(
        model_dir=FLAGS.model_dir or None,
        tf_random_seed=1,
        save_checkpoints_steps=1000,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=100),
    )
    model = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn,
        config=config,
        params=dict(SETTINGS, steps=FLAGS.steps),
        use_tpu=FLAGS.use_tpu,
        train_batch_size=BATCH,
        eval_batch_size=64,
        predict_batch_size=64,
    )
    model.train(input_fn_of(training_data, True), max_steps=FLAGS.steps)
    predictions = model.predict(input_fn_of(test_data, False))
    for _, prediction in zip(range(5), predictions):
        print(show(prediction))
    found = model.evaluate(input_fn_of(test_data, False), steps=512 // 64)
    print("loss on unseen sentences: %.4f" % found["loss"])
    print("accuracy of hidden words: %.4f" % found["accuracy"])


if __name__ == "__main__":
    tf.app.run()
