"""Handwritten digits in clusters, found by k-means without their labels.

    tensorloom run examples/contrib/kmeans.py

`tf.contrib.factorization.KMeansClustering` is an Estimator. It chooses centers among
the images by k-means++, and moves each to the middle of its nearest images. Then each
cluster is called what most of its images are.

Quality: share of digits in clusters of their kind at least 0.9
"""

import collections

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 25, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

CLUSTERS = 30


def main(_):
    digits = datasets.load_digits()
    images = (digits.data / 16.0).astype(np.float32)

    def all_images():
        return tf.constant(images)

    def all_images_once():
        return tf.train.limit_epochs(tf.constant(images), num_epochs=1)

    model = tf.contrib.factorization.KMeansClustering(
        CLUSTERS,
        model_dir=FLAGS.model_dir or None,
        initial_clusters=tf.contrib.factorization.KMeansClustering.KMEANS_PLUS_PLUS_INIT,
        random_seed=1,
        use_mini_batch=False,
    )
    model.train(all_images, max_steps=FLAGS.steps)
    print("distances to the centers: %.1f" % model.score(all_images_once))

    found = collections.defaultdict(collections.Counter)
    for cluster, digit in zip(
        model.predict_cluster_index(all_images_once), digits.target
    ):
        found[cluster][digit] += 1
    for cluster in sorted(found):
        counts = found[cluster].most_common()
        print(
            "cluster %2d: %s"
            % (cluster, ", ".join("%d of %d" % (n, digit) for digit, n in counts))
        )
    most = sum(counts.most_common(1)[0][1] for counts in found.values())
    share = most / float(len(digits.target))
    print("share of digits in clusters of their kind: %.4f" % share)


if __name__ == "__main__":
    tf.app.run()
