"""Distributions against what TensorFlow 1.15 computes for them."""

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

RECORDED = [
    (
        "Normal([0.0, 1.0], [1.0, 2.0])",
        "sample(3, seed=42)",
        [
            [-0.2807750701904297, 0.7244957685470581],
            [-0.6763296127319336, 1.0491608381271362],
            [-0.8935845494270325, -0.6569465398788452],
        ],
    ),
    (
        "Normal([0.0, 1.0], [1.0, 2.0])",
        "log_prob([0.5, 1.5])",
        [-1.0439385175704956, -1.6433357000350952],
    ),
    (
        "Normal([0.0, 1.0], [1.0, 2.0])",
        "entropy()",
        [1.4189385175704956, 2.1120858192443848],
    ),
    ("Normal([0.0, 1.0], [1.0, 2.0])", "stddev()", [1.0, 2.0]),
    ("Bernoulli(probs=[0.3, 0.9])", "sample(3, seed=42)", [[0, 1], [0, 1], [0, 1]]),
    (
        "Bernoulli(probs=[0.3, 0.9])",
        "log_prob([1, 0])",
        [-1.2039728164672852, -2.3025848865509033],
    ),
    (
        "Bernoulli(probs=[0.3, 0.9])",
        "entropy()",
        [0.6108643412590027, 0.32508304715156555],
    ),
    (
        "Bernoulli(probs=[0.3, 0.9])",
        "stddev()",
        [0.4582575857639313, 0.30000004172325134],
    ),
    (
        "Beta([1.5, 2.0], [2.5, 3.0])",
        "sample(3, seed=42)",
        [
            [0.08308301120996475, 0.47996604442596436],
            [0.6545348763465881, 0.5135152339935303],
            [0.1870606690645218, 0.22479870915412903],
        ],
    ),
    (
        "Beta([1.5, 2.0], [2.5, 3.0])",
        "log_prob([0.3, 0.4])",
        [0.4908599853515625, 0.5469646453857422],
    ),
    (
        "Beta([1.5, 2.0], [2.5, 3.0])",
        "entropy()",
        [-0.18860363960266113, -0.23490667343139648],
    ),
    (
        "Beta([1.5, 2.0], [2.5, 3.0])",
        "stddev()",
        [0.21650634706020355, 0.20000000298023224],
    ),
    ("Categorical(probs=[0.1, 0.5, 0.4])", "sample(3, seed=42)", [2, 1, 2]),
    ("Categorical(probs=[0.1, 0.5, 0.4])", "log_prob(1)", -0.6931471824645996),
    ("Categorical(probs=[0.1, 0.5, 0.4])", "entropy()", 0.9433484077453613),
    (
        "Dirichlet([[1.5, 2.0, 3.0], [2.0, 2.5, 4.0]])",
        "sample(3, seed=42)",
        [
            [
                [0.21318818628787994, 0.5168378949165344, 0.26997390389442444],
                [0.1078687533736229, 0.3373534381389618, 0.5547778010368347],
            ],
            [
                [0.5534449815750122, 0.43688836693763733, 0.00966669712215662],
                [0.39480575919151306, 0.03823833912611008, 0.5669559240341187],
            ],
            [
                [0.38050541281700134, 0.30115532875061035, 0.3183392882347107],
                [0.2788878381252289, 0.2902349531650543, 0.4308771789073944],
            ],
        ],
    ),
    (
        "Dirichlet([[1.5, 2.0, 3.0], [2.0, 2.5, 4.0]])",
        "log_prob([0.2, 0.3, 0.5])",
        [1.6952109336853027, 1.9779858589172363],
    ),
    (
        "Dirichlet([[1.5, 2.0, 3.0], [2.0, 2.5, 4.0]])",
        "entropy()",
        [-1.1016044616699219, -1.2781968116760254],
    ),
    (
        "Dirichlet([[1.5, 2.0, 3.0], [2.0, 2.5, 4.0]])",
        "stddev()",
        [
            [0.1538461595773697, 0.16853001713752747, 0.1820332109928131],
            [0.13762298226356506, 0.1478307843208313, 0.16194051504135132],
        ],
    ),
    (
        "Exponential([1.0, 2.0])",
        "sample(3, seed=42)",
        [
            [0.0489051379263401, 0.19474095106124878],
            [0.22901293635368347, 0.1400012969970703],
            [0.7424306869506836, 0.2302129566669464],
        ],
    ),
    ("Exponential([1.0, 2.0])", "log_prob([0.5, 1.5])", [-0.5, -2.3068528175354004]),
    ("Exponential([1.0, 2.0])", "entropy()", [1.0, 0.3068528175354004]),
    ("Exponential([1.0, 2.0])", "stddev()", [1.0, 0.5]),
    (
        "Gamma([1.5, 3.0], [2.0, 0.5])",
        "sample(3, seed=42)",
        [
            [0.3024422228336334, 4.82228422164917],
            [2.307283639907837, 10.055817604064941],
            [0.5262882113456726, 3.1255552768707275],
        ],
    ),
    (
        "Gamma([1.5, 3.0], [2.0, 0.5])",
        "log_prob([0.5, 1.5])",
        [-0.18607056140899658, -2.711658477783203],
    ),
    (
        "Gamma([1.5, 3.0], [2.0, 0.5])",
        "entropy()",
        [0.6678255796432495, 2.5407259464263916],
    ),
    (
        "Gamma([1.5, 3.0], [2.0, 0.5])",
        "stddev()",
        [0.6123724579811096, 3.464101552963257],
    ),
    (
        "Laplace([0.0, 1.0], [1.0, 2.0])",
        "sample(3, seed=42)",
        [
            [2.349079132080078, 1.876438021659851],
            [0.8931518793106079, 2.4330921173095703],
            [-0.049283452332019806, 1.607703447341919],
        ],
    ),
    (
        "Laplace([0.0, 1.0], [1.0, 2.0])",
        "log_prob([0.5, 1.5])",
        [-1.1931471824645996, -1.6362943649291992],
    ),
    (
        "Laplace([0.0, 1.0], [1.0, 2.0])",
        "entropy()",
        [1.6931471824645996, 2.386294364929199],
    ),
    (
        "Laplace([0.0, 1.0], [1.0, 2.0])",
        "stddev()",
        [1.4142135381698608, 2.8284270763397217],
    ),
    (
        "Multinomial(4.0, logits=[0.1, 0.5, 0.4])",
        "sample(3, seed=42)",
        [[0.0, 3.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 1.0]],
    ),
    (
        "Multinomial(4.0, logits=[0.1, 0.5, 0.4])",
        "log_prob([1.0, 1.0, 2.0])",
        -1.898735523223877,
    ),
    (
        "Multinomial(4.0, logits=[0.1, 0.5, 0.4])",
        "stddev()",
        [0.87759929895401, 0.9747386574745178, 0.954797625541687],
    ),
    (
        "StudentT([3.0, 4.0], [0.0, 1.0], [1.0, 2.0])",
        "sample(3, seed=42)",
        [
            [-0.3995755612850189, 0.7642480731010437],
            [-0.6200913190841675, 1.049546718597412],
            [-0.8296639919281006, -1.173133373260498],
        ],
    ),
    (
        "StudentT([3.0, 4.0], [0.0, 1.0], [1.0, 2.0])",
        "log_prob([0.5, 1.5])",
        [-1.1609742641448975, -1.7127368450164795],
    ),
    (
        "StudentT([3.0, 4.0], [0.0, 1.0], [1.0, 2.0])",
        "entropy()",
        [1.77347731590271, 2.374907970428467],
    ),
    (
        "StudentT([3.0, 4.0], [0.0, 1.0], [1.0, 2.0])",
        "stddev()",
        [1.7320507764816284, 2.8284270763397217],
    ),
    (
        "Uniform([0.0, 1.0], [1.0, 3.0])",
        "sample(3, seed=42)",
        [
            [0.9522714614868164, 2.3548154830932617],
            [0.7953182458877563, 2.511563539505005],
            [0.475955605506897, 2.2620296478271484],
        ],
    ),
    (
        "Uniform([0.0, 1.0], [1.0, 3.0])",
        "log_prob([0.5, 1.5])",
        [0.0, -0.6931471824645996],
    ),
    ("Uniform([0.0, 1.0], [1.0, 3.0])", "entropy()", [0.0, 0.6931471824645996]),
    (
        "Uniform([0.0, 1.0], [1.0, 3.0])",
        "stddev()",
        [0.28867512941360474, 0.5773502588272095],
    ),
]


@pytest.mark.parametrize(("made", "asked", "expected"), RECORDED)
def test_values_are_those_of_tensorflow(made, asked, expected):
    value = eval(f"tf.distributions.{made}.{asked}", {"tf": tf})
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(value), expected, 2e-5, 1e-6)


def test_samples_of_a_gamma_have_gradients():
    weight = tf.constant([1.5, 3.0])
    drawn = tf.distributions.Gamma(weight, 2.0).sample(4, seed=1)
    (slope,) = tf.gradients(drawn, weight)
    with tf.Session() as sess:
        assert (sess.run(slope) > 0).all()


def test_divergence_of_normals():
    a, b = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(1.0, 2.0)
    with tf.Session() as sess:
        value = sess.run(a.kl_divergence(b))
    np.testing.assert_allclose(value, np.log(2.0) + 2.0 / 8.0 - 0.5, 1e-6)


def test_pairs_without_a_divergence_are_refused():
    a, b = tf.distributions.Normal(0.0, 1.0), tf.distributions.Laplace(0.0, 1.0)
    with pytest.raises(NotImplementedError, match="No KL"):
        tf.distributions.kl_divergence(a, b)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (
            lambda: tf.distributions.Gamma(2.0, 3.0).survival_function(0.5),
            ["Gamma/cdf/mul", "Gamma/cdf/Igamma", "Gamma/survival_function/sub"],
        ),
        (
            lambda: tf.distributions.Beta(2.0, 3.0).survival_function(0.5),
            ["Beta/cdf/Betainc", "Beta/survival_function/sub"],
        ),
        (
            lambda: tf.distributions.Laplace(0.0, 2.0).prob(0.5),
            ["Laplace/prob/Log", "Laplace/prob/add", "Laplace/prob/Exp"],
        ),
        (
            lambda: tf.distributions.Laplace(0.0, 2.0).log_cdf(0.5),
            ["Laplace/log_cdf/log_cdf_laplace/add"],
        ),
    ],
)
def test_names_of_nodes(make: Any, names: list[str]) -> None:
    with tf.Graph().as_default() as graph:
        make()
        made = [op.name for op in graph.get_operations()]
    assert [name for name in made if name in names] == names


def test_modes_of_a_batch() -> None:
    batch = tf.distributions.Dirichlet([[2.0, 3.0, 4.0], [0.5, 2.0, 3.0]])
    with tf.Session() as session:
        modes = session.run(batch.mode())
    np.testing.assert_allclose(modes[0], [1 / 6, 2 / 6, 3 / 6], rtol=1e-6)
    assert np.isnan(modes[1]).all()


def test_covariances_of_batches() -> None:
    counts = tf.distributions.DirichletMultinomial(
        [[[3.0]], [[5.0]]], [[[1.0, 2.0]], [[2.0, 2.0]]]
    )
    covariance, variance = counts.covariance(), counts.variance()
    assert covariance.shape == [2, 1, 2, 2]
    with tf.Session() as session:
        matrices, diagonals = session.run([covariance, variance])
    np.testing.assert_allclose(
        np.diagonal(matrices, axis1=-2, axis2=-1), diagonals, rtol=1e-6
    )
    np.testing.assert_allclose(matrices.sum(-1), 0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (tf.distributions.Multinomial, r"\[counts must sum to `self.total_count`\]"),
        (tf.distributions.DirichletMultinomial, "counts last-dimension must sum to"),
    ],
)
def test_counts_that_do_not_sum_up(kind: Any, message: str) -> None:
    counts = tf.placeholder(tf.float32, [2])
    found = kind(4.0, [1.0, 2.0], validate_args=True).log_prob(counts)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        session.run(found, {counts: [1.0, 2.0]})
