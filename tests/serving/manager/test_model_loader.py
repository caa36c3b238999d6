"""Which versions are compiled: the server says so, or they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorloom.protos.config_pb2 import ConfigProto, OptimizerOptions
from tensorloom.serving.manager.loader_options import make_loader
from tensorloom.serving.manager.model_loader import COMPILE_FILE
from tensorloom.serving.options import ServerOptions


@pytest.mark.parametrize(
    ("patterns", "has_file", "level"),
    [
        ("", False, OptimizerOptions.DEFAULT),
        ("other", False, OptimizerOptions.DEFAULT),
        ("other,dig*", False, OptimizerOptions.ON_1),
        ("", True, OptimizerOptions.ON_1),
    ],
)
def test_who_asks_is_compiled(
    tmp_path: Path, patterns: str, has_file: bool, level: int
) -> None:
    options = ServerOptions(compile_models=patterns, tensorflow_intra_op_parallelism=3)
    file = tmp_path / COMPILE_FILE
    if has_file:
        file.parent.mkdir()
        file.touch()
    loader = make_loader(options, lambda servable: None)
    config: ConfigProto = loader._config_of("digits", str(tmp_path))
    assert config.graph_options.optimizer_options.global_jit_level == level
    assert config.intra_op_parallelism_threads == 3
