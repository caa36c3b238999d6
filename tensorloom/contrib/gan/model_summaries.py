"""Summaries of models: their variables, and images that they make."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.gan.image_tiles import image_grid, image_reshaper
from tensorloom.contrib.gan.model_tuples import CycleGANModel
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.losses.collection import get_regularization_loss
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.summary import summary
from tensorloom.summary.media import image as image_summary


def _check_images(*tensors: Any) -> None:
    for tensor in tensors:
        tensor.shape.assert_has_rank(4)
        tensor.shape[1:].assert_is_fully_defined()


def _first(images: Any, count: int) -> list[Any]:
    return array_ops.unstack(images[:count])


@export("contrib.gan.eval.add_gan_model_summaries")
def add_gan_model_summaries(gan_model: Any) -> None:
    """Histograms of all variables of a model."""
    if isinstance(gan_model, CycleGANModel):
        with name_scope("cyclegan_x2y_summaries"):
            add_gan_model_summaries(gan_model.model_x2y)
        with name_scope("cyclegan_y2x_summaries"):
            add_gan_model_summaries(gan_model.model_y2x)
        return
    for kind in ("generator_variables", "discriminator_variables"):
        with name_scope(kind):
            for variable in getattr(gan_model, kind):
                summary.histogram(variable.name, variable)


@export("contrib.gan.eval.add_gan_model_image_summaries")
def add_gan_model_image_summaries(
    gan_model: Any, grid_size: int = 4, model_summaries: bool = True
) -> None:
    """Grids of real and generated images.

    Args:
      gan_model: a model; its data are images, `grid_size` squared or more.
      grid_size: how many images a grid has in each direction.
      model_summaries: whether variables are summarized, too.

    Raises:
      ValueError: data are not images, or it is a `CycleGANModel`.
    """
    if isinstance(gan_model, CycleGANModel):
        raise ValueError(
            "`add_gan_model_image_summaries` does not take CycleGANModels. Please use "
            "`add_cyclegan_image_summaries` instead."
        )
    _check_images(gan_model.real_data, gan_model.generated_data)
    for kind in ("real_data", "generated_data"):
        images = getattr(gan_model, kind)
        height, width, channels = images.shape.as_list()[1:]
        grid = image_grid(
            images[: grid_size**2], (grid_size, grid_size), (height, width), channels
        )
        image_summary(kind, grid, max_outputs=1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


@export("contrib.gan.eval.add_image_comparison_summaries")
def add_image_comparison_summaries(
    gan_model: Any, num_comparisons: int = 2, display_diffs: bool = False
) -> None:
    """The generator's inputs over what it made of them over real data.

    Args:
      gan_model: a model whose inputs and data are images of one size.
      num_comparisons: of how many images.
      display_diffs: whether the difference of the last two stands below.

    Raises:
      ValueError: they are not.
    """
    kinds = gan_model.generator_inputs, gan_model.generated_data, gan_model.real_data
    _check_images(*kinds)
    inputs, generated, real = kinds
    generated.shape.assert_is_compatible_with(inputs.shape)
    real.shape.assert_is_compatible_with(generated.shape)
    images = [image for kind in kinds for image in _first(kind, num_comparisons)]
    if display_diffs:
        made, wanted = (
            [
                math_ops.cast(image, dtypes.float32)
                for image in _first(kind, num_comparisons)
            ]
            for kind in (generated, real)
        )
        pairs = zip(made, wanted, strict=True)
        images += [math_ops.abs(one - other) for one, other in pairs]
    _compare(images, num_comparisons)


def _compare(images: list[Any], columns: int) -> None:
    tiled = image_reshaper(images, num_cols=columns)
    image_summary("image_comparison", tiled, max_outputs=1)


@export("contrib.gan.eval.add_stargan_image_summaries")
def add_stargan_image_summaries(
    stargan_model: Any, num_images: int = 2, display_diffs: bool = False
) -> None:
    """The first images, each beside what the generator makes of it for all domains.

    Args:
      stargan_model: a `StarGANModel` of images.
      num_images: how many images.
      display_diffs: whether a second row has the differences.

    Raises:
      ValueError: the data are no images, or the domains not known.
    """
    _check_images(stargan_model.input_data)
    stargan_model.input_data_domain_label.shape.assert_has_rank(2)
    stargan_model.input_data_domain_label.shape[1:].assert_is_fully_defined()
    domains = stargan_model.input_data_domain_label.shape.as_list()[-1]

    def row(image: Any) -> Any:
        images = array_ops.tile(
            array_ops.expand_dims(image, axis=0), [domains, 1, 1, 1]
        )
        targets = array_ops.one_hot(list(range(domains)), domains)
        with variable_scope(stargan_model.generator_scope, reuse=True):
            generated = stargan_model.generator_fn(images, targets)
            shown = [image, *_one_by_one(generated, domains)]
            if display_diffs:
                differences = _one_by_one(generated - images, domains)
                shown += [array_ops.zeros_like(image), *differences]
            tiles = image_reshaper(shown, num_cols=domains + 1)
        return array_ops.squeeze(tiles, axis=0)

    rows = map_fn(
        row,
        stargan_model.input_data[:num_images],
        parallel_iterations=num_images,
        back_prop=False,
        swap_memory=True,
    )
    image_summary("stargan_image_generation", rows, max_outputs=num_images)


def _one_by_one(images: Any, count: int) -> list[Any]:
    return [array_ops.squeeze(part, axis=0) for part in array_ops.split(images, count)]


@export("contrib.gan.eval.add_cyclegan_image_summaries")
def add_cyclegan_image_summaries(cyclegan_model: Any) -> None:
    """For each generator its input, its output, and that brought back.

    Raises:
      ValueError: it is no `CycleGANModel`, or its data are not images.
    """
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(
            "`cyclegan_model` was not a CycleGANModel. Instead, was "
            f"{type(cyclegan_model)}"
        )
    ways = (
        ("x2y", cyclegan_model.model_x2y, cyclegan_model.reconstructed_x),
        ("y2x", cyclegan_model.model_y2x, cyclegan_model.reconstructed_y),
    )
    for _, model, back in ways:
        _check_images(model.generator_inputs, model.generated_data, back)
    for way, model, back in ways:
        with name_scope(f"{way}_image_comparison_summaries"):
            kinds = model.generator_inputs, model.generated_data, back
            _compare([image for kind in kinds for image in _first(kind, 1)], 3)


@export("contrib.gan.eval.add_regularization_loss_summaries")
def add_regularization_loss_summaries(gan_model: Any) -> None:
    """The regularization losses of both networks."""
    if isinstance(gan_model, CycleGANModel):
        with name_scope("cyclegan_x2y_regularization_loss_summaries"):
            add_regularization_loss_summaries(gan_model.model_x2y)
        with name_scope("cyclegan_y2x_regularization_loss_summaries"):
            add_regularization_loss_summaries(gan_model.model_y2x)
        return
    for kind in ("generator", "discriminator"):
        scope = getattr(gan_model, f"{kind}_scope")
        if scope:
            loss = get_regularization_loss(scope.name)
            summary.scalar(f"{kind}_regularization_loss", loss)
