# program: distributions of numbers
# compare: error values
ds = tf.contrib.distributions
def facts(make, values, seed=3):
    d = make()
    found = {"sample": d.sample(4, seed=seed) if seed is not None else None, "batch": str(d.batch_shape), "event": str(d.event_shape), "dtype": d.dtype.name}
    for rule in ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function"):
        try:
            found[rule] = getattr(d, rule)(values)
        except NotImplementedError:
            found[rule] = None
    for rule in ("mean", "mode", "variance", "stddev", "entropy", "covariance"):
        try:
            found[rule] = getattr(d, rule)()
        except NotImplementedError:
            found[rule] = None
    return {k: v for k, v in found.items() if v is not None}
two = np.array([0.5, 2.0], np.float32)
numbers = {
    "poisson": facts(lambda: ds.Poisson(two), [1.0, 3.0]),
    "poisson of log": facts(lambda: ds.Poisson(log_rate=two), [1.0, 3.0]),
    "binomial": facts(lambda: ds.Binomial([3.0, 5.0], probs=[0.3, 0.6]), [1.0, 5.0], None),
    "geometric": facts(lambda: ds.Geometric(probs=[0.3, 0.6]), [1.0, 4.0]),
    "negative binomial": facts(lambda: ds.NegativeBinomial([2.0, 3.5], logits=[0.3, -0.6]), [1.0, 4.0]),
    "cauchy": facts(lambda: ds.Cauchy([0.0, 1.0], two), [1.0, 4.0]),
    "logistic": facts(lambda: ds.Logistic([0.0, 1.0], two), [1.0, 4.0]),
    "half normal": facts(lambda: ds.HalfNormal(two), [1.0, -4.0]),
    "inverse gamma": facts(lambda: ds.InverseGamma([1.5, 3.0], two), [1.0, 0.4]),
    "chi2": facts(lambda: ds.Chi2([2.0, 5.0]), [1.0, 4.0]),
    "kumaraswamy": facts(lambda: ds.Kumaraswamy([2.0, 3.0], two), [0.2, 0.7]),
    "sinh": facts(lambda: ds.SinhArcsinh([0.0, 1.0], two, 0.3, 1.2), [0.2, 0.7]),
    "deterministic": facts(lambda: ds.Deterministic([0.5, 1.0], atol=0.1), [0.55, 0.7]),
    "relaxed bernoulli": facts(lambda: ds.RelaxedBernoulli(0.5, probs=[0.3, 0.6]), [0.2, 0.7]),
    "quantized": facts(lambda: ds.QuantizedDistribution(ds.Normal([0.0, 1.0], two), -2.0, 3.0), [1.0, 3.0]),
    "softplus": facts(lambda: ds.NormalWithSoftplusScale([0.0, 1.0], [0.3, -0.6]), [1.0, 3.0]),
}
errors = {
    "poisson": error(ds.Poisson), "binomial": error(ds.Binomial, 3.0), "cauchy": error(lambda: ds.Cauchy(0.0, 1.0, allow_nan_stats=False).mean()),
    "quantized": error(lambda: ds.QuantizedDistribution(ds.Normal(0.0, 1.0), np.float64(1.0))),
}
with tf.Session() as sess:
    result = [{name: {k: (v if isinstance(v, str) else sess.run(v)) for k, v in found.items()} for name, found in numbers.items()}, errors]

# program: distributions of vectors
# compare: error values
ds = tf.contrib.distributions
def facts(make, values, seed=3):
    d = make()
    found = {"sample": d.sample([2, 3], seed=seed) if seed is not None else None, "batch": str(d.batch_shape), "event": str(d.event_shape)}
    for rule in ("prob", "log_prob"):
        try:
            found[rule] = getattr(d, rule)(values)
        except NotImplementedError:
            found[rule] = None
    for rule in ("mean", "mode", "variance", "stddev", "entropy", "covariance"):
        try:
            found[rule] = getattr(d, rule)()
        except NotImplementedError:
            found[rule] = None
    return {k: v for k, v in found.items() if v is not None}
loc = np.array([[1.0, -1.0, 0.5], [0.0, 2.0, 1.0]], np.float32)
scale = np.array([0.5, 1.5, 2.0], np.float32)
lower = np.array([[1.0, 0.0, 0.0], [0.3, 2.0, 0.0], [-0.5, 0.7, 1.5]], np.float32)
x = np.array([0.2, 0.1, -0.4], np.float32)
p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], np.float32)
vectors = {
    "diag": facts(lambda: ds.MultivariateNormalDiag(loc, scale), x),
    "diag of scale": facts(lambda: ds.MultivariateNormalDiag(scale_diag=scale, scale_identity_multiplier=0.5), x),
    "identity": facts(lambda: ds.MultivariateNormalDiag(loc), x),
    "softplus": facts(lambda: ds.MultivariateNormalDiagWithSoftplusScale(loc, scale), x),
    "tril": facts(lambda: ds.MultivariateNormalTriL(loc, lower), x),
    "covariance": facts(lambda: ds.MultivariateNormalFullCovariance(loc, lower.dot(lower.T)), x),
    "low rank": facts(lambda: ds.MultivariateNormalDiagPlusLowRank(loc, scale, scale_perturb_factor=lower[:, :1]), x),
    "laplace": facts(lambda: ds.VectorLaplaceDiag(loc, scale), x),
    "exponential": facts(lambda: ds.VectorExponentialDiag(None, scale), np.abs(x)),
    "sinh": facts(lambda: ds.VectorSinhArcsinhDiag(loc, scale, skewness=0.2, tailweight=0.9), x),
    "one hot": facts(lambda: ds.OneHotCategorical(probs=p), np.array([0.0, 1.0, 0.0], np.float32)),
    "relaxed": facts(lambda: ds.RelaxedOneHotCategorical(0.7, probs=p), np.array([0.2, 0.3, 0.5], np.float32)),
    "logs of relaxed": facts(lambda: ds.ExpRelaxedOneHotCategorical(0.7, probs=p), np.log(np.array([0.2, 0.3, 0.5], np.float32))),
    "deterministic": facts(lambda: ds.VectorDeterministic(loc), loc[0]),
    "independent": facts(lambda: ds.Independent(ds.Normal(loc, scale)), x),
    "reshaped": facts(lambda: ds.BatchReshape(ds.Normal(loc, scale), [3, 2]), np.float32(0.3) * np.ones([3, 2], np.float32)),
    "transformed": facts(lambda: ds.TransformedDistribution(ds.Normal(0.0, 1.0), ds.bijectors.Exp(), event_shape=[3]), np.abs(x)),
    "in a batch": facts(lambda: ds.TransformedDistribution(ds.Normal([0.0, 1.0], 1.0), ds.bijectors.Affine(scale_tril=lower), event_shape=[3]), loc),
}
divergence = [
    ds.kl_divergence(ds.MultivariateNormalDiag(loc, scale), ds.MultivariateNormalTriL(loc[0], lower)),
    ds.kl_divergence(ds.OneHotCategorical(probs=p), ds.OneHotCategorical(probs=p[::-1])),
    ds.kl_divergence(ds.Independent(ds.Normal(loc, scale)), ds.Independent(ds.Normal(loc[::-1], scale))),
]
errors = {
    "no size": error(ds.MultivariateNormalDiag), "no arguments": error(ds.MultivariateNormalTriL), "sizes": error(ds.MultivariateNormalDiag, loc, [1.0, 2.0]),
    "base": error(lambda: ds.TransformedDistribution(ds.Normal(loc, 1.0), batch_shape=[2])), "reinterpreted": error(ds.Independent, ds.Normal(0.0, 1.0), 1),
    "vector": error(lambda: ds.VectorDeterministic(1.0, validate_args=True)),
}
with tf.Session() as sess:
    result = [{name: {k: (v if isinstance(v, str) else sess.run(v)) for k, v in found.items()} for name, found in vectors.items()}, sess.run(divergence), errors]

# program: mixtures
# compare: error values
ds = tf.contrib.distributions
p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], np.float32)
parts = [ds.Normal([0.0, 1.0], 1.0), ds.Normal([3.0, -1.0], 0.5), ds.Normal([2.0, 2.0], [1.0, 2.0])]
mixture = ds.Mixture(ds.Categorical(probs=p), parts)
static = ds.Mixture(ds.Categorical(probs=p), parts, use_static_graph=True)
vectors = ds.Mixture(ds.Categorical(probs=p[0]), [ds.MultivariateNormalDiag([float(i), 1.0], [1.0, 2.0]) for i in range(3)])
family = ds.MixtureSameFamily(ds.Categorical(probs=p), ds.Normal(np.arange(6, dtype=np.float32).reshape(2, 3), 1.0))
wide = ds.MixtureSameFamily(ds.Categorical(probs=p[0]), ds.MultivariateNormalDiag(np.arange(6, dtype=np.float32).reshape(3, 2), [1.0, 2.0]))
values = np.array([0.3, 1.5], np.float32)
found = {
    "mixture": [mixture.sample(5, seed=1), mixture.log_prob(values), mixture.cdf(values), mixture.mean(), mixture.stddev(), mixture.entropy_lower_bound()],
    "static": [static.sample(5, seed=1)], "vectors": [vectors.sample(4, seed=2), vectors.log_prob(values), vectors.mean(), vectors.stddev()],
    "family": [family.log_prob(values), family.cdf(values), family.mean(), family.variance(), tf.shape(family.sample(4))],
    "wide": [wide.log_prob(values), wide.mean(), wide.variance(), wide.covariance(), tf.shape(wide.sample([4, 2]))],
}
errors = [error(ds.Mixture, ds.Normal(0.0, 1.0), parts), error(ds.Mixture, ds.Categorical(probs=p), []), error(ds.Mixture, ds.Categorical(probs=p), parts[:2]), error(ds.MixtureSameFamily, ds.Categorical(probs=p), ds.Normal(np.zeros([2, 4], np.float32), 1.0))]
with tf.Session() as sess:
    result = [sess.run(found), errors]

# program: bijectors
# compare: error values
bs = tf.contrib.distributions.bijectors
lower = np.array([[1.0, 0.0, 0.0], [0.3, 2.0, 0.0], [-0.5, 0.7, 1.5]], np.float32)
vector = np.array([[0.2, 0.5, 0.9], [0.1, 0.3, 0.35]], np.float32)
def facts(make, x, rank):
    b = make()
    y = b.forward(tf.constant(x))
    outer = rank + b.inverse_min_event_ndims - b.forward_min_event_ndims
    found = [y, b.inverse(tf.identity(y)), b.forward_log_det_jacobian(tf.constant(x), event_ndims=rank), b.inverse_log_det_jacobian(tf.identity(y), event_ndims=outer)]
    shape = tf.constant(x).shape[1:] if rank and len(np.shape(x)) > rank else tf.constant(x).shape
    return found, [b.name, b.forward_min_event_ndims, b.inverse_min_event_ndims, b.is_constant_jacobian, str(b.forward_event_shape(shape[-rank:] if rank else tf.TensorShape([])))]
made = {
    "exp": facts(bs.Exp, vector, 0), "exp of vectors": facts(bs.Exp, vector, 1), "power": facts(lambda: bs.PowerTransform(0.5), vector, 0), "sigmoid": facts(bs.Sigmoid, vector, 1),
    "softplus": facts(bs.Softplus, vector, 0), "hinge": facts(lambda: bs.Softplus(0.7), vector, 0), "softsign": facts(bs.Softsign, vector, 0), "square": facts(bs.Square, vector, 0),
    "gumbel": facts(lambda: bs.Gumbel(0.1, 2.0), vector, 0), "kumaraswamy": facts(lambda: bs.Kumaraswamy(2.0, 2.0), vector, 0), "sinh": facts(lambda: bs.SinhArcsinh(0.3, 1.4), vector, 0),
    "scalar": facts(lambda: bs.AffineScalar(1.0, -2.0), vector, 1), "shift": facts(lambda: bs.AffineScalar(1.0), vector, 0), "affine": facts(lambda: bs.Affine([1.0, 2.0, 3.0], scale_tril=lower), vector, 1),
    "affine multiple": facts(lambda: bs.Affine([1.0, 2.0, 3.0], 2.0), vector, 1), "affine diag": facts(lambda: bs.Affine(scale_diag=[1.0, 2.0, 3.0], scale_identity_multiplier=0.5), vector, 1),
    "low rank": facts(lambda: bs.Affine(scale_diag=[1.0, 2.0, 3.0], scale_perturb_factor=lower[:, :1], scale_perturb_diag=[2.0]), vector, 1),
    "operator": facts(lambda: bs.AffineLinearOperator([1.0, 2.0, 3.0], tf.linalg.LinearOperatorLowerTriangular(lower)), vector, 1),
    "chain": facts(lambda: bs.Chain([bs.Exp(), bs.Affine(scale_diag=[1.0, 2.0, 3.0])]), vector, 1), "invert": facts(lambda: bs.Invert(bs.Exp()), vector, 1), "identity": facts(bs.Identity, vector, 1),
    "inline": facts(lambda: bs.Inline(tf.exp, tf.math.log, lambda y: -tf.math.log(y), lambda x: x, forward_min_event_ndims=0), vector, 1),
    "ordered": facts(bs.Ordered, vector, 1), "permute": facts(lambda: bs.Permute([2, 0, 1]), vector, 1), "softmax": facts(bs.SoftmaxCentered, vector, 1), "reshape": facts(lambda: bs.Reshape([1, 3], [3]), vector, 1),
    "cholesky": facts(bs.CholeskyOuterProduct, lower, 2), "fill": facts(bs.FillTriangular, np.arange(1.0, 7.0, dtype=np.float32), 1), "inverse": facts(bs.MatrixInverseTriL, lower, 2),
    "diagonal": facts(lambda: bs.TransformDiagonal(bs.Exp()), lower, 2), "scale": facts(bs.ScaleTriL, np.arange(1.0, 7.0, dtype=np.float32), 1),
}
two = bs.AbsoluteValue()
errors = [error(bs.PowerTransform, -1.0), error(bs.Permute, [0, 0]), error(bs.Permute, [0.0]), error(lambda: bs.Affine(scale_perturb_diag=[1.0])), error(bs.Invert, two), error(lambda: bs.AffineLinearOperator(scale=1.0)), error(lambda: bs.Exp().forward_log_det_jacobian(1.0, event_ndims=-1))]
with tf.Session() as sess:
    result = [sess.run({k: v[0] for k, v in made.items()}), {k: v[1] for k, v in made.items()}, sess.run([two.forward([-1.0, 2.0]), two.inverse([1.0, 2.0])]), errors]

# program: flows
# compare: error values
bs, ds = tf.contrib.distributions.bijectors, tf.contrib.distributions
tf.set_random_seed(1)
ones = tf.constant_initializer(0.1)
flow = bs.RealNVP(1, bs.real_nvp_default_template([4], kernel_initializer=ones))
masked = bs.MaskedAutoregressiveFlow(bs.masked_autoregressive_default_template([6], kernel_initializer=ones))
unrolled = bs.MaskedAutoregressiveFlow(lambda x: (0.1 * tf.cumsum(x, -1, exclusive=True), None), unroll_loop=True)
dense = bs.masked_dense(tf.ones([2, 3]), 6, num_blocks=3, exclusive=True, kernel_initializer=tf.ones_initializer(), name="masked")
normal = bs.BatchNormalization()
x = tf.constant([[0.2, 0.5, 0.9], [0.1, 0.3, 0.35]])
found = [[b.forward(x), b.inverse(x), b.inverse_log_det_jacobian(tf.identity(x), event_ndims=1)] for b in (flow, masked, unrolled)]
found += [[normal.inverse(x), normal.inverse_log_det_jacobian(tf.identity(x), event_ndims=1)], dense]
def step(sample):
    shift = 0.5 * tf.cumsum(sample, -1, exclusive=True)
    return ds.Independent(ds.Normal(shift, 1.0), 1)
auto = ds.Autoregressive(step, np.zeros(3, np.float32))
found += [auto.sample(2, seed=5), auto.log_prob(x)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(found), sorted(v.name for v in tf.global_variables())]

# program: statistics of draws
# compare: error values
ds = tf.contrib.distributions
x = np.array([[3.0, 1.0, 4.0, 1.5], [9.0, 2.0, 6.0, 5.0]], np.float32)
mean, variance, log = tf.Variable(0.0), tf.Variable(1.0), tf.Variable(0.5)
prior = ds.Normal(1.0, 2.0)
found = [
    [ds.percentile(x, q, interpolation=how) for q in (0.0, 30.0, 50.0, 100.0) for how in ("lower", "higher", "nearest")], ds.percentile(x, 40.0, axis=1), ds.percentile(x, 40.0, axis=[0, 1], keep_dims=True), ds.percentile(x, 40.0, axis=0, keep_dims=True),
    ds.auto_correlation(x), ds.auto_correlation(x, axis=0, normalize=False), ds.auto_correlation(x, max_lags=2, center=False),
    ds.normal_conjugates_known_scale_posterior(prior, 1.5, tf.constant(4.0), 3).mean(), ds.normal_conjugates_known_scale_predictive(prior, 1.5, tf.constant(4.0), 3).stddev(),
    ds.softplus_inverse([0.5, 2.0]), ds.fill_triangular([1.0, 2.0, 3.0]), ds.fill_triangular_inverse([[1.0, 0.0], [2.0, 3.0]]), ds.reduce_weighted_logsumexp([[0.5, 2.0]], [[1.0, -0.2]], axis=1, return_sign=True), ds.tridiag([1.0], [2.0, 3.0], [4.0]), ds.matrix_diag_transform([[1.0, 2.0], [3.0, 4.0]], tf.exp),
]
update = ds.assign_moving_mean_variance(mean, variance, 3.0, 0.9)
log_update = ds.assign_log_moving_mean_exp(log, 0.2, 0.9)
moving = ds.moving_mean_variance(tf.constant([1.0, 2.0]), 0.8)
seeds = ds.SeedStream(3, "salt")
errors = [error(lambda: ds.percentile(x, 10.0, interpolation="linear")), error(lambda: ds.percentile(x, 10.0, axis=3)), error(ds.auto_correlation, [1, 2])]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(found), sess.run(update), sess.run([mean, variance]), sess.run(log_update), sess.run(moving), [seeds(), seeds()], errors, sorted(v.name for v in tf.global_variables())]

# program: Wishart, Poisson-lognormal and diffeomixture distributions
# compare: error values
ds = tf.contrib.distributions
def facts(make, values, seed=3):
    d = make()
    found = {"sample": d.sample(4, seed=seed), "batch": str(d.batch_shape), "event": str(d.event_shape), "dtype": d.dtype.name, "tensors": [d.batch_shape_tensor(), d.event_shape_tensor()]}
    for rule in ("prob", "log_prob"):
        found[rule] = getattr(d, rule)(values)
    for rule in ("mean", "mode", "variance", "stddev", "entropy", "covariance", "mean_log_det", "log_normalization", "scale"):
        try:
            found[rule] = getattr(d, rule)()
        except (NotImplementedError, AttributeError, ValueError, TypeError):
            found[rule] = None
    return {k: v for k, v in found.items() if v is not None}
factor = np.array([[1.0, 0.0], [0.5, 2.0]], np.float32)
full = factor.dot(factor.T)
both = np.stack([full, full * 2.0]).astype(np.float32)
linalg = tf.linalg
def mixture(**options):
    return ds.VectorDiffeomixture(mix_loc=[[0.3], [1.0]], temperature=[0.7], distribution=ds.Normal(0.1, 1.3), quadrature_size=4, loc=[None, np.float32([1.0, 2.0])], **options)
found = {
    "wishart": facts(lambda: ds.WishartFull([3.0, 4.5], both), both), "wishart of factor": facts(lambda: ds.WishartCholesky(4.0, factor), full),
    "factors": facts(lambda: ds.WishartCholesky(4.0, factor, cholesky_input_output_matrices=True), factor),
    "poisson": facts(lambda: ds.PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=5, validate_args=True), [1.0, 3.0]),
    "poisson by hermite": facts(lambda: ds.PoissonLogNormalQuadratureCompound(0.2, 0.7, 4, ds.quadrature_scheme_lognormal_gauss_hermite), 2.0),
    "diagonal": facts(lambda: mixture(scale=[linalg.LinearOperatorScaledIdentity(2, np.float32(1.1)), linalg.LinearOperatorDiag(np.float32([2.0, 3.0]))]), [[0.5, 1.0], [2.0, 1.0]]),
    "identity": facts(lambda: mixture(scale=[linalg.LinearOperatorIdentity(2, dtype=tf.float32), linalg.LinearOperatorScaledIdentity(2, np.float32(1.1))]), [[0.5, 1.0], [2.0, 1.0]]),
    "triangle": facts(lambda: mixture(scale=[linalg.LinearOperatorLowerTriangular(factor), linalg.LinearOperatorDiag(np.float32([2.0, 3.0]))]), [[0.5, 1.0], [2.0, 1.0]]),
}
schemes = [
    ds.quadrature_scheme_softmaxnormal_quantiles([[0.3]], [[0.5]], 3), ds.quadrature_scheme_lognormal_quantiles(tf.constant([0.1, 0.2]), tf.constant([0.5, 1.0]), 3),
    ds.quadrature_scheme_lognormal_gauss_hermite(tf.constant(0.1), tf.constant(0.5), 3),
]
head = ds.estimator_head_distribution_regression(lambda logits: ds.Normal(logits, 2.0), head_name="h")
spec = head.create_model_fn_ops({}, tf.contrib.learn.ModeKeys.EVAL, tf.constant([[1.0], [2.0]]), logits=tf.constant([[0.5], [3.0]]))
with tf.Session() as sess:
    got = [sess.run(found and {k: {r: x for r, x in v.items() if r not in ("batch", "event", "dtype")} for k, v in found.items()}), sess.run(schemes), sess.run([spec.loss, spec.predictions])]
scales = [linalg.LinearOperatorIdentity(2, dtype=tf.float32)] * 2
result = [
    got, {k: (v["batch"], v["event"], v["dtype"]) for k, v in found.items()}, error(lambda: ds.WishartFull(1.0, full)), error(lambda: ds.WishartFull(3, full.astype(np.int32))),
    error(lambda: mixture(scale=scales[:1])), error(lambda: mixture(scale=scales + scales[:1])), error(lambda: ds.quadrature_scheme_softmaxnormal_quantiles(0.3, 0.5, 3)),
    error(lambda: ds.quadrature_scheme_softmaxnormal_quantiles([0.3, 0.2], [0.5, 0.3], 3)), error(lambda: ds.estimator_head_distribution_regression(3)),
    error(lambda: ds.VectorDiffeomixture([[0.0]], [1.0], ds.Normal([0.0, 1.0], 1.0), scale=scales)),
    error(lambda: ds.WishartCholesky(4.0, factor, cholesky_input_output_matrices=True).stddev()),
]
