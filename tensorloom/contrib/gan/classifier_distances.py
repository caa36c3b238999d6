"""How far generated data are from real ones, by a classifier's activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.linalg.matrix_diag import diag
from tensorloom.ops.linalg.norm import trace
from tensorloom.ops.linalg.svd import svd
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.norm import moments
from tensorloom.ops.nn.softmax import log_softmax, softmax

Classifier = Callable[[Any], Any]


def _in_batches(images: Any, classifier_fn: Classifier, num_batches: int) -> Any:
    """What a classifier gives for images, batch after batch."""
    batches = array_ops.stack(array_ops.split(images, num_or_size_splits=num_batches))
    found = map_fn(
        classifier_fn,
        batches,
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
        name="RunClassifier",
    )
    return array_ops.concat(array_ops.unstack(found), 0)


def _doubles(*tensors: Any) -> list[Any]:
    """Matrices in float64, so that nothing is lost."""
    for tensor in tensors:
        tensor.shape.assert_has_rank(2)
    return [
        x if x.dtype == dtypes.float64 else math_ops.cast(x, dtypes.float64)
        for x in tensors
    ]


def _as(dtype: Any, value: Any) -> Any:
    return value if dtype == dtypes.float64 else math_ops.cast(value, dtype)


@export("contrib.gan.eval.classifier_score")
def classifier_score(
    images: Any, classifier_fn: Classifier, num_batches: int = 1
) -> Any:
    """The inception score by any classifier: exp(E[KL(p(y|x) || p(y))]).

    From "Improved Techniques for Training GANs", arXiv:1606.03498.

    Args:
      images: [batch, ...], whose number `num_batches` divides.
      classifier_fn: gives logits [batch, classes] of images.
      num_batches: how many parts go through the classifier one after the other.

    Returns:
      A scalar of the logits' dtype.
    """
    return classifier_score_from_logits(_in_batches(images, classifier_fn, num_batches))


@export("contrib.gan.eval.classifier_score_from_logits")
def classifier_score_from_logits(logits: Any) -> Any:
    """`classifier_score` of logits [batch, classes]."""
    (wide,) = _doubles(logits)
    each = softmax(wide)
    overall = math_ops.reduce_mean(each, axis=0)
    # The logarithm of the logits, which is exact where probabilities are not.
    divergence = math_ops.reduce_sum(
        each * (log_softmax(wide) - math_ops.log(overall)), axis=1
    )
    return _as(logits.dtype, math_ops.exp(math_ops.reduce_mean(divergence)))


def _root(matrix: Any, eps: float = 1e-10) -> Any:
    """The square root of a symmetric matrix, by its singular values."""
    values, left, right = svd(matrix)
    # The root is not stable near zero: such values stay.
    roots = array_ops.where(math_ops.less(values, eps), values, math_ops.sqrt(values))
    scaled = math_ops.matmul(left, diag(roots))
    return math_ops.matmul(scaled, right, transpose_b=True)


def trace_sqrt_product(sigma: Any, sigma_v: Any) -> Any:
    """The trace of the square root of a product of covariances.

    The product is not symmetric, but with A the root of `sigma` the matrix
    `A sigma_v A` is, and it has the product's eigenvalues.
    """
    root = _root(sigma)
    return trace(_root(math_ops.matmul(root, math_ops.matmul(sigma_v, root))))


@export("contrib.gan.eval.frechet_classifier_distance")
def frechet_classifier_distance(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_batches: int = 1,
) -> Any:
    """The Frechet inception distance by any classifier.

    |m - m_w|^2 + Tr(C + C_w - 2(C * C_w)^(1/2)), of means and covariances of
    activations; from arXiv:1706.08500. It is greater for few samples: compare models
    with as many.

    Args:
      real_images, generated_images: [batch, ...], whose numbers `num_batches` divides.
      classifier_fn: gives activations [batch, size] of images.
      num_batches: how many parts go through the classifier one after the other.

    Returns:
      A scalar of the activations' dtype.
    """
    return frechet_classifier_distance_from_activations(
        _in_batches(real_images, classifier_fn, num_batches),
        _in_batches(generated_images, classifier_fn, num_batches),
    )


def _covariance(activations: Any, mean: Any) -> Any:
    count = math_ops.cast(array_ops.shape(activations)[0], dtypes.float64)
    centered = activations - mean
    return math_ops.matmul(centered, centered, transpose_a=True) / (count - 1)


def _squared_distance(first: Any, second: Any) -> Any:
    return math_ops.reduce_sum(math_ops.squared_difference(first, second))


@export("contrib.gan.eval.frechet_classifier_distance_from_activations")
def frechet_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any
) -> Any:
    """`frechet_classifier_distance` of activations [batch, size]."""
    real, generated = _doubles(real_activations, generated_activations)
    mean, mean_v = (math_ops.reduce_mean(x, 0) for x in (real, generated))
    sigma, sigma_v = _covariance(real, mean), _covariance(generated, mean_v)
    spread = trace(sigma + sigma_v) - 2.0 * trace_sqrt_product(sigma, sigma_v)
    return _as(real_activations.dtype, spread + _squared_distance(mean, mean_v))


@export("contrib.gan.eval.mean_only_frechet_classifier_distance_from_activations")
def mean_only_frechet_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any
) -> Any:
    """The squared distance of the means of activations [batch, size]."""
    real, generated = _doubles(real_activations, generated_activations)
    mean, mean_v = (math_ops.reduce_mean(x, 0) for x in (real, generated))
    return _as(real_activations.dtype, _squared_distance(mean, mean_v))


@export("contrib.gan.eval.diagonal_only_frechet_classifier_distance_from_activations")
def diagonal_only_frechet_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any
) -> Any:
    """The Frechet distance of activations [batch, size], as if none were correlated."""
    real, generated = _doubles(real_activations, generated_activations)
    (mean, var), (mean_v, var_v) = (moments(x, axes=[0]) for x in (real, generated))
    spread = math_ops.reduce_sum(
        (var + var_v) - 2.0 * math_ops.sqrt(math_ops.multiply(var, var_v))
    )
    return _as(real_activations.dtype, spread + _squared_distance(mean, mean_v))


@export("contrib.gan.eval.kernel_classifier_distance")
def kernel_classifier_distance(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Any:
    """The kernel inception distance by any classifier; see `..._and_std`."""
    return kernel_classifier_distance_and_std(
        real_images,
        generated_images,
        classifier_fn,
        num_classifier_batches,
        max_block_size,
        dtype,
    )[0]


@export("contrib.gan.eval.kernel_classifier_distance_and_std")
def kernel_classifier_distance_and_std(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Any:
    """The kernel inception distance by any classifier, and its standard error.

    The squared maximum mean discrepancy of activations by the kernel
    (x^T y / size + 1)^3; from arXiv:1801.01401, with blocks as in arXiv:1307.1954. It
    is unbiased.

    Args:
      real_images, generated_images: [batch, ...] in random order, whose numbers
        `num_classifier_batches` divides.
      classifier_fn: gives activations [batch, size] of images.
      num_classifier_batches: how many parts go through the classifier in turn.
      max_block_size: how many activations are compared with each other.
      dtype: to compute in; that of the activations when None.

    Returns:
      Two scalars; the second one is NaN if there is one block alone.
    """
    return kernel_classifier_distance_and_std_from_activations(
        _in_batches(real_images, classifier_fn, num_classifier_batches),
        _in_batches(generated_images, classifier_fn, num_classifier_batches),
        max_block_size,
        dtype,
    )


@export("contrib.gan.eval.kernel_classifier_distance_from_activations")
def kernel_classifier_distance_from_activations(
    real_activations: Any,
    generated_activations: Any,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Any:
    """`kernel_classifier_distance` of activations [batch, size]."""
    return kernel_classifier_distance_and_std_from_activations(
        real_activations, generated_activations, max_block_size, dtype
    )[0]


@export("contrib.gan.eval.kernel_classifier_distance_and_std_from_activations")
def kernel_classifier_distance_and_std_from_activations(
    real_activations: Any,
    generated_activations: Any,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Any:
    """`kernel_classifier_distance_and_std` of activations [batch, size]."""
    both = [real_activations, generated_activations]
    for activations in both:
        activations.shape.assert_has_rank(2)
    both[0].shape[1].assert_is_compatible_with(both[1].shape[1])
    if dtype is None:
        dtype = both[0].dtype
        assert both[1].dtype == dtype
    else:
        both = [math_ops.cast(activations, dtype) for activations in both]
    sizes = [array_ops.shape(activations)[0] for activations in both]
    larger = math_ops.maximum(sizes[0], sizes[1])
    blocks = math_ops.cast(math_ops.ceil(larger / max_block_size), dtypes.int32)
    starts = [_block_starts(size, blocks) for size in sizes]
    depth = math_ops.cast(both[0].shape[1], dtype)

    def block(index: Any) -> Any:
        real, generated = (
            part[at[index] : at[index + 1]]
            for part, at in zip(both, starts, strict=True)
        )
        across = math_ops.reduce_mean(_kernel(real, generated, depth))
        return (
            -2 * across + _within(real, depth, dtype) + _within(generated, depth, dtype)
        )

    estimates = map_fn(block, math_ops.range(blocks), dtype=dtype, back_prop=False)
    mean = math_ops.reduce_mean(estimates)
    count = math_ops.cast(blocks, dtype)
    variance = cond(
        math_ops.less_equal(blocks, 1),
        lambda: constant(float("nan"), dtype=dtype),
        lambda: math_ops.reduce_sum(math_ops.square(estimates - mean)) / (count - 1),
    )
    return mean, math_ops.sqrt(variance / count)


def _block_starts(size: Any, blocks: Any) -> Any:
    """Where blocks of nearly one size start, and the end: int32 [blocks + 1]."""
    least = size // blocks
    larger = size - least * blocks
    sizes = array_ops.concat(
        [
            array_ops.fill([blocks - larger], least),
            array_ops.fill([larger], least + 1),
        ],
        0,
    )
    zero = array_ops.zeros([1], dtype=dtypes.int32)
    return array_ops.concat([zero, math_ops.cumsum(sizes)], 0)


def _kernel(first: Any, second: Any, depth: Any) -> Any:
    return (math_ops.matmul(first, second, transpose_b=True) / depth + 1) ** 3


def _within(activations: Any, depth: Any, dtype: Any) -> Any:
    """The mean kernel of pairs of different rows."""
    kernel = _kernel(activations, activations, depth)
    count = math_ops.cast(array_ops.shape(activations)[0], dtype)
    total = math_ops.reduce_sum(kernel) - trace(kernel)
    return total / (count * (count - 1))
