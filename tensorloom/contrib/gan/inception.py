"""Scores by the Inception network, whose frozen graph is no part of this package."""

from __future__ import annotations

import functools
import os
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.program.resource_files import load_resource
from tensorloom.contrib.gan.classifier_distances import (
    classifier_score,
    frechet_classifier_distance,
    kernel_classifier_distance,
    kernel_classifier_distance_and_std,
)
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.core import flatten
from tensorloom.ops.array import array_ops
from tensorloom.ops.image.resize import resize_bilinear
from tensorloom.ops.math import math_ops
from tensorloom.storage.files import filesystem

_URL: Final = (
    "http://download.tensorflow.org/models/frozen_inception_v1_2015_12_05.tar.gz"
)
_FROZEN_GRAPH: Final = "inceptionv1_for_inception_score.pb"
INCEPTION_INPUT: Final = "Mul:0"
INCEPTION_OUTPUT: Final = "logits:0"
INCEPTION_FINAL_POOL: Final = "pool_3:0"
INCEPTION_DEFAULT_IMAGE_SIZE: Final = 299
export_value(
    INCEPTION_DEFAULT_IMAGE_SIZE, "contrib.gan.eval.INCEPTION_DEFAULT_IMAGE_SIZE"
)


@export("contrib.gan.eval.preprocess_image")
def preprocess_image(
    images: Any,
    height: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    width: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    scope: str | None = None,
) -> Any:
    """Images in [-1, 1] of the size that the network takes.

    Args:
      images: [height, width, channels] or a batch of them, in [0, 255].
      height, width: the new size.
      scope: of the operations.
    """
    is_single = images.shape.ndims == 3
    with name_scope(scope, "preprocess", [images, height, width]):
        if not images.dtype.is_floating:
            images = math_ops.cast(images, dtypes.float32)
        if is_single:
            images = array_ops.expand_dims(images, axis=0)
        resized = (resize_bilinear(images, [height, width]) - 128.0) / 128.0
        return array_ops.squeeze(resized, axis=0) if is_single else resized


def _parsed(content: bytes) -> Any:
    from tensorloom.protos.graph_pb2 import GraphDef

    return GraphDef.FromString(content)


@export("contrib.gan.eval.get_graph_def_from_disk")
def get_graph_def_from_disk(filename: Any) -> Any:
    """The GraphDef in a file."""
    return _parsed(filesystem.read_file(os.fspath(filename)))


@export("contrib.gan.eval.get_graph_def_from_resource")
def get_graph_def_from_resource(filename: str) -> Any:
    """The GraphDef in a file beside the program."""
    return _parsed(load_resource(filename))


@export("contrib.gan.eval.get_graph_def_from_url_tarball")
def get_graph_def_from_url_tarball(
    url: str, filename: str, tar_filename: str | None = None
) -> Any:
    """The GraphDef in an archive on the web.

    Args:
      url: of the archive.
      filename: within the archive.
      tar_filename: where the archive is, or is put; None: nowhere.

    Raises:
      OSError: the archive cannot be downloaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = tar_filename or os.path.join(folder, "archive")
        if not os.path.exists(path):
            urllib.request.urlretrieve(url, path)
        with tarfile.open(path, "r:gz") as archive:
            member = archive.extractfile(filename)
            assert member is not None
            return _parsed(member.read())


def _inception_graph_def() -> Any:
    try:
        return get_graph_def_from_url_tarball(
            _URL, _FROZEN_GRAPH, os.path.basename(_URL)
        )
    except OSError as problem:
        raise RuntimeError(
            f"The frozen graph of the Inception network is not here, and {_URL} cannot "
            f"be downloaded ({problem}). Put {os.path.basename(_URL)} into the "
            "program's directory, give `graph_def` to run_inception, or use "
            "classifier_score and frechet_classifier_distance with a classifier of "
            "your own."
        ) from problem


@export("contrib.gan.eval.run_inception")
def run_inception(
    images: Any,
    graph_def: Any = None,
    default_graph_def_fn: Callable[[], Any] | None = _inception_graph_def,
    image_size: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    input_tensor: str = INCEPTION_INPUT,
    output_tensor: Any = INCEPTION_OUTPUT,
) -> Any:
    """What a trained Inception network gives for images.

    Args:
      images: [batch, size, size, channels] in [-1, 1], see `preprocess_image`.
      graph_def: the frozen network.
      default_graph_def_fn: gives it when it is None; by default from the web.
      image_size: the size of the images.
      input_tensor: the name of the network's input.
      output_tensor: the name of an output, or a list of names.

    Returns:
      `[batch, size]`, or a list of them.

    Raises:
      ValueError: images of another size, or there is no network.
      RuntimeError: the network cannot be downloaded.
    """
    images = convert_to_tensor(images)
    images.shape.with_rank(4)
    images.shape.assert_is_compatible_with([None, image_size, image_size, None])
    if graph_def is None:
        if default_graph_def_fn is None:
            raise ValueError(
                "If `graph_def` is `None`, must provide `default_graph_def_fn`."
            )
        graph_def = default_graph_def_fn()
    found = run_image_classifier(images, graph_def, input_tensor, output_tensor)
    if isinstance(found, list):
        return [flatten(one) for one in found]
    return flatten(found)


@export("contrib.gan.eval.run_image_classifier")
def run_image_classifier(
    tensor: Any,
    graph_def: Any,
    input_tensor: str,
    output_tensor: Any,
    scope: str = "RunClassifier",
) -> Any:
    """What a frozen network gives for a tensor.

    Args:
      tensor: its input.
      graph_def: the network.
      input_tensor: the name of the network's input.
      output_tensor: the name of an output, or a list of names.
      scope: of the operations.

    Raises:
      ValueError: a name is not in the network.
    """
    names = [output_tensor] if isinstance(output_tensor, str) else output_tensor
    found = import_graph_def(graph_def, {input_tensor: tensor}, names, name=scope)
    assert found is not None
    return found[0] if isinstance(output_tensor, str) else found


_to_logits = functools.partial(run_inception, output_tensor=INCEPTION_OUTPUT)
_to_pool = functools.partial(run_inception, output_tensor=INCEPTION_FINAL_POOL)

for _name, _function, _network in (
    ("inception_score", classifier_score, _to_logits),
    ("frechet_inception_distance", frechet_classifier_distance, _to_pool),
    ("kernel_inception_distance", kernel_classifier_distance, _to_pool),
    ("kernel_inception_distance_and_std", kernel_classifier_distance_and_std, _to_pool),
):
    export_value(
        functools.partial(_function, classifier_fn=_network),
        f"contrib.gan.eval.{_name}",
    )
