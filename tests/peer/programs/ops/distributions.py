# program: draws of each distribution with the graph's seed
# not in 2.21: ops values
D = tf.distributions
tf.set_random_seed(3)
made = [
    D.Normal([1.0, 2.0], [2.0, 3.0]), D.Bernoulli(probs=[0.2, 0.7]), D.Bernoulli(logits=[0.2, 0.7]), D.Beta([1.0, 2.0], [2.0, 3.0]),
    D.Categorical(logits=[[1.0, 2.0, 0.5], [0.1, 0.2, 0.3]]), D.Categorical(probs=[0.2, 0.3, 0.5]), D.Dirichlet([1.0, 2.0, 3.0]),
    D.Exponential([1.0, 2.0]), D.Gamma([1.0, 2.0], [2.0, 3.0]), D.Laplace([1.0, 2.0], [2.0, 3.0]), D.StudentT([3.0, 4.0], [1.0, 2.0], [2.0, 3.0]), D.Uniform([1.0, 2.0], [2.0, 3.0]),
]
draws = [[d.sample(), d.sample(4), d.sample([2, 3], seed=5)] for d in made]
with tf.Session() as sess:
    result = sess.run(draws)
# program: draws of a number of times that is fed
# not in 2.21: ops values
tf.set_random_seed(3)
number = tf.placeholder_with_default(3, [])
shape = tf.placeholder_with_default([2, 2], [2])
normal = tf.distributions.Normal(tf.placeholder_with_default([0.0, 1.0], [None]), 2.0)
draws = [normal.sample(number), normal.sample(shape, seed=2)]
with tf.Session() as sess:
    result = sess.run(draws), draws
# program: what a variational autoencoder asks of distributions
# not in 2.21: ops values
tf.set_random_seed(1)
x = tf.placeholder_with_default([[0.5, 1.0], [0.0, 2.0]], [None, 2])
prior = tf.distributions.Normal(tf.zeros([2]), tf.ones([2]))
codes = tf.distributions.Normal(x, tf.nn.softplus(x) + 1e-3)
pixels = tf.distributions.Bernoulli(logits=codes.sample(seed=2))
likelihood = pixels.log_prob(tf.cast(x > 0.7, tf.float32))
divergence = tf.distributions.kl_divergence(codes, prior)
drawn = pixels.mean(), pixels.entropy(), tf.distributions.kl_divergence(pixels, pixels), codes.entropy(), codes.log_prob(x), codes.mean(), codes.stddev()
with tf.Session() as sess:
    result = sess.run([likelihood, divergence, drawn, tf.gradients(likelihood, x)])
# program: categories of known and unknown batches
# not in 2.21: ops values
D = tf.distributions
tf.set_random_seed(1)
known = D.Categorical(logits=[[1.0, 2.0, 0.5], [0.1, 0.2, 0.3]])
unknown = D.Categorical(probs=tf.placeholder_with_default([[0.2, 0.3, 0.5]], [None, 3]))
asked = [[d.log_prob([0, 1]), d.prob([0, 1]), d.cdf([1, 2]), d.entropy(), d.mode(), d.sample(3), d.batch_shape_tensor(), d.event_size] for d in (known, unknown)]
asked.append(D.kl_divergence(known, unknown))
with tf.Session() as sess:
    result = sess.run(asked), asked
# program: every method of each distribution, by its nodes and its numbers
# not in 2.21: ops values error
D = tf.distributions
made = [
    (D.Normal([0.0, 1.0], [1.0, 2.0]), [0.5, 0.6]), (D.Bernoulli(probs=[0.2, 0.7]), [1, 0]), (D.Beta([1.0, 2.0], [2.0, 3.0]), [0.2, 0.3]),
    (D.Categorical(probs=[0.2, 0.8]), 1), (D.Dirichlet([1.5, 2.0]), [0.3, 0.7]), (D.DirichletMultinomial([4.0], [1.0, 2.0]), [1.0, 3.0]),
    (D.DirichletMultinomial([[4.0], [3.0]], [[1.0, 2.0], [2.0, 2.0]]), [1.0, 3.0]), (D.Exponential([1.0, 2.0]), [0.5, 0.6]), (D.Gamma([1.0, 2.0], [2.0, 3.0]), [0.5, 0.6]),
    (D.Laplace([1.0, 2.0], [2.0, 3.0]), [0.5, 0.6]), (D.Multinomial(4.0, probs=[0.3, 0.7]), [1.0, 3.0]), (D.StudentT([3.0, 1.0], [1.0, 2.0], [2.0, 3.0]), [0.5, 0.6]), (D.Uniform([1.0, 2.0], [2.0, 3.0]), [1.5, 3.5]),
]
asked = {}
def ask(key, function, *args):
    try:
        asked[key] = function(*args)
    except NotImplementedError:
        asked[key] = tf.constant("not implemented")
for i, (d, value) in enumerate(made):
    for name in ("entropy", "mean", "mode", "variance", "stddev", "covariance", "batch_shape_tensor", "event_shape_tensor", "is_scalar_event", "is_scalar_batch"):
        ask("%d %s" % (i, name), getattr(d, name))
    for name in ("log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function", "quantile"):
        ask("%d %s" % (i, name), getattr(d, name), value)
    ask("%d divergence" % i, D.kl_divergence, d, d)
    ask("%d cross entropy" % i, d.cross_entropy, d)
tails = D.Normal(0.0, 1.0)
ask("tails", tails.quantile, [0.0, 1e-12, 1e-3, 0.5, 0.99, 1.0, -1.0])
ask("far", tails.log_cdf, [-30.0, -9.0, 0.0, 4.0, 9.0])
with tf.Session() as sess:
    result = sess.run(asked)
# program: distributions that check their arguments, with control flow of the first form
# not in 2.21: ops values error
tf.compat.v1.disable_control_flow_v2()
D = tf.distributions
made = [
    (D.Bernoulli(probs=[0.2, 0.7], validate_args=True), [1, 0]), (D.Beta([1.0, 2.0], [2.0, 3.0], validate_args=True), [0.2, 0.3]),
    (D.Categorical(probs=[0.2, 0.8], validate_args=True), 1), (D.Dirichlet([1.5, 2.0], validate_args=True), [0.3, 0.7]), (D.DirichletMultinomial([4.0], [1.0, 2.0], validate_args=True), [1.0, 3.0]),
    (D.Exponential([1.0, 2.0], validate_args=True), [0.5, 0.6]), (D.Multinomial(4.0, probs=[0.3, 0.7], validate_args=True), [1.0, 3.0]), (D.StudentT([3.0, 2.0], [1.0, 2.0], [2.0, 3.0], validate_args=True, allow_nan_stats=False), [0.5, 0.6]),
]
asked = [[d.log_prob(value), d.prob(value)] for d, value in made]
asked += [[d.mean(), d.variance()] for d, value in made if not isinstance(d, D.Categorical)]
shape = tf.placeholder_with_default([2, 2], None)
asked.append(tf.shape(made[0][0].sample(shape, seed=1)))
with tf.Session() as sess:
    result = sess.run(asked)
