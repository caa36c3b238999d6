"""Recommendation: people and articles that come as they are, by ids of 64 bits.

    tensorloom run examples/recommendation/click_stream.py

A stream of clicks, in which new people and new articles turn up all the time. Nobody
numbers them: vectors are kept by ids, in embedding variables that grow (an article gets
its vector when it comes for the second time). Whether somebody clicks follows from the
product of two hidden vectors, and from chance, so that nobody can be right always.
Between full checkpoints the rows alone are saved that have changed.

Quality: accuracy beside that of who knows the rules at least 0.95
"""

import numpy as np
import tensorflow as tf

import tensorloom.dynamic_embedding as de

flags = tf.app.flags
flags.DEFINE_integer("steps", 2000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

PEOPLE = 3000
ARTICLES = 1000
HIDDEN = 4
BATCH = 512
SIZE = 8
LEARNING_RATE = 0.1
REPORT = 500


class Stream(object):
    """Clicks by the number of a step, which they depend on alone."""

    def __init__(self, steps):
        random = np.random.RandomState(1)
        self._steps = steps
        self.people = random.randint(-(2**63), 2**63 - 1, PEOPLE, np.int64)
        self.articles = random.randint(-(2**63), 2**63 - 1, ARTICLES, np.int64)
        self._tastes = random.normal(size=[PEOPLE, HIDDEN])
        self._subjects = random.normal(size=[ARTICLES, HIDDEN])

    def batch(self, step):
        """(ids of people, ids of articles, 1.0 where one clicked, how probable it was).

        In the first step a third of all are there, after half of the steps everybody.
        """
        random = np.random.RandomState(step)
        share = min(1.0, 1.0 / 3.0 + step * 4.0 / (3.0 * self._steps))
        person = random.randint(0, int(share * PEOPLE), BATCH)
        article = random.randint(0, int(share * ARTICLES), BATCH)
        likes = np.sum(self._tastes[person] * self._subjects[article], axis=1)
        probability = 1.0 / (1.0 + np.exp(-2.0 * likes))
        clicked = (random.uniform(size=BATCH) < probability).astype(np.float32)
        return self.people[person], self.articles[article], clicked, probability


def run_alone(sess, fetches, feed=None):
    """The values of fetches, without the session's hooks."""
    return sess.run_step_fn(
        lambda step_context: step_context.session.run(fetches, feed)
    )


def main(_):
    tf.set_random_seed(1)
    stream = Stream(FLAGS.steps)
    person = tf.placeholder(tf.int64, [None], name="person")
    article = tf.placeholder(tf.int64, [None], name="article")
    clicked = tf.placeholder(tf.float32, [None], name="clicked")

    initializer = tf.random_normal_initializer(stddev=0.3, seed=1)
    people = de.get_variable("people", dim=SIZE, initializer=initializer)
    articles = de.get_variable(
        "articles",
        dim=SIZE,
        initializer=initializer,
        filter_option=de.CounterFilter(filter_freq=2),
    )
    likes = tf.reduce_sum(
        tf.nn.embedding_lookup(people, person)
        * tf.nn.embedding_lookup(articles, article),
        axis=1,
    )
    loss = tf.reduce_sum(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=likes)
    )
    global_step = tf.train.get_or_create_global_step()
    train = tf.train.AdagradOptimizer(LEARNING_RATE).minimize(loss, global_step)
    sizes = [people.size(), articles.size()]

    def feed(step):
        who, what, whether, _ = stream.batch(step)
        return {person: who, article: what, clicked: whether}

    scaffold = tf.train.Scaffold(saver=de.IncrementalSaver())
    increments = de.IncrementalSaverHook(
        scaffold=scaffold, incremental_save_steps=REPORT
    )
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=FLAGS.model_dir or None,
        scaffold=scaffold,
        chief_only_hooks=[increments] if FLAGS.model_dir else [],
        save_checkpoint_secs=600,
        log_step_count_steps=None,
    ) as sess:
        first = run_alone(sess, global_step)
        for step in range(first, FLAGS.steps):
            _, value = sess.run([train, loss], feed(step))
            if (step + 1) % REPORT == 0:
                print("step %5d: loss of a click %.3f" % (step + 1, value / BATCH))
        ours, best = [], []
        for step in range(FLAGS.steps, FLAGS.steps + 40):
            _, _, whether, probability = stream.batch(step)
            scores = run_alone(sess, likes, feed(step))
            ours.append(np.mean((scores > 0.0) == whether))
            best.append(np.mean((probability > 0.5) == whether))
        counts = run_alone(sess, sizes)
    print("vectors of %d people and %d articles" % tuple(counts))
    print("accuracy %.3f, of who knows the rules %.3f" % (np.mean(ours), np.mean(best)))
    print(
        "accuracy beside that of who knows the rules: %.4f"
        % (np.mean(ours) / np.mean(best))
    )


if __name__ == "__main__":
    tf.app.run()
