"""Models: a generator and a discriminator built over data, in scopes of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.framework_variables import get_trainable_variables
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.gan.model_tuples import (
    ACGANModel,
    CycleGANModel,
    GANModel,
    InfoGANModel,
    StarGANModel,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.random.random_ops import random_uniform

Network = Callable[..., Any]


def tensors(values: Any) -> Any:
    """Tensors of a value, or of each in a list or dict."""
    if isinstance(values, (list, tuple)):
        return [convert_to_tensor(value) for value in values]
    if isinstance(values, dict):
        return {key: convert_to_tensor(value) for key, value in values.items()}
    return convert_to_tensor(values)


def _check_shapes(generated: Any, real: Any) -> None:
    if not generated.shape.is_compatible_with(real.shape):
        raise ValueError(
            f"Generator output shape ({generated.shape}) must be the same shape as "
            f"real data ({real.shape})."
        )


@export("contrib.gan.gan_model")
def gan_model(
    generator_fn: Network,
    discriminator_fn: Network,
    real_data: Any,
    generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """Builds a generator, and a discriminator over its and over real data.

    Args:
      generator_fn: a function from the inputs to data.
      discriminator_fn: a function of data and the generator's inputs; gives logits.
      real_data: a tensor.
      generator_inputs: a tensor, a list or a dict of tensors.
      generator_scope, discriminator_scope: the variable scopes.
      check_shapes: whether generated data must have the shape of real data.

    Raises:
      ValueError: they do not.
    """
    with variable_scope(generator_scope) as gen_scope:
        generator_inputs = tensors(generator_inputs)
        generated = generator_fn(generator_inputs)
    with variable_scope(discriminator_scope) as dis_scope:
        of_generated = discriminator_fn(generated, generator_inputs)
    with variable_scope(dis_scope, reuse=True):
        real_data = tensors(real_data)
        of_real = discriminator_fn(real_data, generator_inputs)
    if check_shapes:
        _check_shapes(generated, real_data)
    return GANModel(
        generator_inputs,
        generated,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        real_data,
        of_real,
        of_generated,
        get_trainable_variables(dis_scope),
        dis_scope,
        discriminator_fn,
    )


@export("contrib.gan.infogan_model")
def infogan_model(
    generator_fn: Network,
    discriminator_fn: Network,
    real_data: Any,
    unstructured_generator_inputs: Any,
    structured_generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
) -> InfoGANModel:
    """Builds a model whose discriminator predicts a part of the noise, too.

    Args:
      generator_fn: a function from a list of noise to data.
      discriminator_fn: a function of data and the noise; gives logits and a list of
        distributions, one for each of the structured inputs.
      real_data: a tensor.
      unstructured_generator_inputs, structured_generator_inputs: lists of tensors.
      generator_scope, discriminator_scope: the variable scopes.

    Raises:
      ValueError: generated data have another shape than real data, or there are not as
        many distributions as structured inputs.
    """
    with variable_scope(generator_scope) as gen_scope:
        unstructured = tensors(unstructured_generator_inputs)
        structured = tensors(structured_generator_inputs)
        inputs = unstructured + structured
        generated = generator_fn(inputs)
    with variable_scope(discriminator_scope) as dis_scope:
        of_generated, distributions = discriminator_fn(generated, inputs)
    if not isinstance(distributions, (tuple, list)):
        raise ValueError(
            "`predicted_distributions` must be a list. Instead, found "
            f"{type(distributions)}."
        )
    if len(distributions) != len(structured):
        raise ValueError(
            f"Length of `predicted_distributions` {len(distributions)} must be the "
            f"same as the length of structured noise {len(structured)}."
        )
    with variable_scope(dis_scope, reuse=True):
        real_data = convert_to_tensor(real_data)
        of_real, _ = discriminator_fn(real_data, inputs)
    _check_shapes(generated, real_data)
    return InfoGANModel(
        inputs,
        generated,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        real_data,
        of_real,
        of_generated,
        get_trainable_variables(dis_scope),
        dis_scope,
        lambda data, noise: discriminator_fn(data, noise)[0],
        structured,
        distributions,
        discriminator_fn,
    )


def _two(output: Any) -> tuple[Any, Any]:
    try:
        logits, classes = output
    except (TypeError, ValueError):
        raise TypeError(
            "A discriminator function for ACGAN must output a tuple "
            "consisting of (discrimination logits, classification logits)."
        ) from None
    return logits, classes


@export("contrib.gan.acgan_model")
def acgan_model(
    generator_fn: Network,
    discriminator_fn: Network,
    real_data: Any,
    generator_inputs: Any,
    one_hot_labels: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> ACGANModel:
    """Builds a model whose discriminator classifies, too.

    Args:
      generator_fn: a function from the inputs to data.
      discriminator_fn: a function of data and the generator's inputs; gives logits of
        being real, and logits of classes.
      real_data: a tensor.
      generator_inputs: a tensor, a list or a dict of tensors.
      one_hot_labels: [batch, classes].
      generator_scope, discriminator_scope: the variable scopes.
      check_shapes: whether generated data must have the shape of real data.

    Raises:
      ValueError: they do not.
      TypeError: the discriminator gives no two.
    """
    with variable_scope(generator_scope) as gen_scope:
        generator_inputs = tensors(generator_inputs)
        generated = generator_fn(generator_inputs)
    with (
        variable_scope(discriminator_scope) as dis_scope,
        name_scope(f"{dis_scope.name}/generated/"),
    ):
        of_generated = _two(discriminator_fn(generated, generator_inputs))
    with (
        variable_scope(dis_scope, reuse=True),
        name_scope(f"{dis_scope.name}/real/"),
    ):
        real_data = convert_to_tensor(real_data)
        of_real = _two(discriminator_fn(real_data, generator_inputs))
    if check_shapes:
        _check_shapes(generated, real_data)
    return ACGANModel(
        generator_inputs,
        generated,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        real_data,
        of_real[0],
        of_generated[0],
        get_trainable_variables(dis_scope),
        dis_scope,
        discriminator_fn,
        one_hot_labels,
        of_real[1],
        of_generated[1],
    )


@export("contrib.gan.cyclegan_model")
def cyclegan_model(
    generator_fn: Network,
    discriminator_fn: Network,
    data_x: Any,
    data_y: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    model_x2y_scope: Any = "ModelX2Y",
    model_y2x_scope: Any = "ModelY2X",
    check_shapes: bool = True,
) -> CycleGANModel:
    """Builds generators from x to y and from y to x, and what comes back.

    Args:
      generator_fn: a function from data to data.
      discriminator_fn: a function of data and the generator's inputs; gives logits.
      data_x, data_y: tensors of one shape.
      generator_scope, discriminator_scope, model_x2y_scope, model_y2x_scope: the
        variable scopes.
      check_shapes: whether generated data must have the shape of real data.

    Raises:
      ValueError: they do not.
    """

    def one_way(inputs: Any, outputs: Any) -> GANModel:
        return gan_model(
            generator_fn,
            discriminator_fn,
            real_data=outputs,
            generator_inputs=inputs,
            generator_scope=generator_scope,
            discriminator_scope=discriminator_scope,
            check_shapes=check_shapes,
        )

    with variable_scope(model_x2y_scope):
        x2y = one_way(data_x, data_y)
    with variable_scope(model_y2x_scope):
        y2x = one_way(data_y, data_x)
    with variable_scope(y2x.generator_scope, reuse=True):
        again_x = y2x.generator_fn(x2y.generated_data)
    with variable_scope(x2y.generator_scope, reuse=True):
        again_y = x2y.generator_fn(y2x.generated_data)
    return CycleGANModel(x2y, y2x, again_x, again_y)


def _joined(values: Any) -> Any:
    values = tensors(values)
    return concat(values, 0) if isinstance(values, (list, tuple)) else values


@export("contrib.gan.stargan_model")
def stargan_model(
    generator_fn: Network,
    discriminator_fn: Network,
    input_data: Any,
    input_data_domain_label: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
) -> StarGANModel:
    """Builds one generator among several domains.

    Args:
      generator_fn: a function of data and domains, [batch, domains]; gives data.
      discriminator_fn: a function of data and the number of domains; gives logits of
        being real [batch], and of domains [batch, domains].
      input_data: a tensor, or a list of parts of it.
      input_data_domain_label: [batch, domains], or a list of parts of it.
      generator_scope, discriminator_scope: the variable scopes.

    Raises:
      ValueError: the shape of the domains is not known, or not of two axes.
    """
    data, domains = _joined(input_data), _joined(input_data_domain_label)
    domains.shape.assert_has_rank(2)
    domains.shape.assert_is_fully_defined()
    batch, count = domains.shape.as_list()
    with variable_scope(generator_scope) as gen_scope:
        drawn = random_uniform([batch], minval=0, maxval=count, dtype=dtypes.int32)
        targets = one_hot(drawn, count)
        generated = generator_fn(data, targets)
    with variable_scope(gen_scope, reuse=True):
        again = generator_fn(generated, domains)
    with variable_scope(discriminator_scope) as dis_scope:
        gen_source, gen_domain = discriminator_fn(generated, count)
    with variable_scope(dis_scope, reuse=True):
        real_source, real_domain = discriminator_fn(data, count)
    return StarGANModel(
        data,
        domains,
        generated,
        targets,
        again,
        real_source,
        gen_source,
        real_domain,
        gen_domain,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        get_trainable_variables(dis_scope),
        dis_scope,
        discriminator_fn,
    )
