"""What the embedding projector shows, as a file beside the events."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from tensorloom.framework.export import export, export_value
from tensorloom.protos import projector_config_pb2
from tensorloom.protos.projector_config_pb2 import (
    EmbeddingInfo,
    ProjectorConfig,
    SpriteMetadata,
)
from tensorloom.storage.files.file_io import GFile

_HERE = "contrib.tensorboard.plugins.projector"

export_value(projector_config_pb2.DESCRIPTOR, f"{_HERE}.DESCRIPTOR")
export_value(EmbeddingInfo, f"{_HERE}.EmbeddingInfo")
export_value(ProjectorConfig, f"{_HERE}.ProjectorConfig")
export_value(SpriteMetadata, f"{_HERE}.SpriteMetadata")


@export("contrib.tensorboard.plugins.projector.visualize_embeddings")
def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes `projector_config.pbtxt` into the directory of the events.

    Args:
      summary_writer: a `FileWriter`.
      config: a `ProjectorConfig`.

    Raises:
      ValueError: the writer has no directory.
    """
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    with GFile(os.path.join(logdir, "projector_config.pbtxt"), "w") as file:
        file.write(text_format.MessageToString(config))
