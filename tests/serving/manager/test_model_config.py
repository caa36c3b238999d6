"""Config files, version policies and directories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorloom.framework import errors
from tensorloom.serving.logs.log_options import LogOptions
from tensorloom.serving.manager.model_config import (
    ModelConfig,
    VersionPolicy,
    read_config_file,
    single_model,
)
from tensorloom.serving.manager.version_source import VersionSource, aspired_versions

ENTRY = 'name: "m" base_path: "/models/m" model_platform: "tensorflow"'


def _read(tmp_path: Path, text: str) -> dict[str, ModelConfig]:
    file = tmp_path / "models.config"
    file.write_text(text)
    return read_config_file(str(file))


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("", VersionPolicy(1)),
        ("model_version_policy { latest { num_versions: 2 } }", VersionPolicy(2)),
        ("model_version_policy { latest { } }", VersionPolicy(1)),
        ("model_version_policy { all { } }", VersionPolicy(None)),
        (
            "model_version_policy { specific { versions: 1 versions: 3 } }",
            VersionPolicy(None, (1, 3)),
        ),
    ],
)
def test_policies(tmp_path: Path, text: str, policy: VersionPolicy) -> None:
    found = _read(tmp_path, f"model_config_list {{ config {{ {ENTRY} {text} }} }}")
    assert found["m"].policy == policy


def test_a_deprecated_type_and_labels(tmp_path: Path) -> None:
    text = (
        'model_config_list { config { name: "m" base_path: "gs://bucket/m" '
        'model_type: TENSORFLOW version_labels { key: "stable" value: 4 } } }'
    )
    assert _read(tmp_path, text)["m"].labels == {"stable": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "Invalid protobuf file"),
        ("custom_model_config { }", "custom_model_config is not supported"),
        (
            f"model_config_list {{ config {{ {ENTRY} }} config {{ {ENTRY} }} }}",
            "Illegal to list model m multiple times in config list",
        ),
        (
            'model_config_list { config { name: "m" base_path: "/m" } }',
            "Illegal setting neither",
        ),
        (
            f"model_config_list {{ config {{ {ENTRY} model_type: TENSORFLOW }} }}",
            "Illegal setting both",
        ),
        (
            "model_config_list { config "
            '{ name: "m" base_path: "m" model_platform: "tensorflow" } }',
            "to have an absolute path or URI; got base_path()=m",
        ),
        (
            'model_config_list { config { base_path: "/m" model_platform: '
            '"tensorflow" } }',
            "has no name",
        ),
        (
            f"model_config_list {{ config {{ {ENTRY} logging_config {{ "
            'log_collector_config { type: "tfrecord" } } } }',
            "log_collector_config has no filename_prefix",
        ),
        (
            f"model_config_list {{ config {{ {ENTRY} logging_config {{ "
            'log_collector_config { type: "tfrecord" filename_prefix: "p" } '
            "sampling_config { sampling_rate: 2 } } } }",
            "sampling_rate must be between 0 and 1, not 2.0",
        ),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        _read(tmp_path, text)
    assert message in caught.value.message


def test_what_is_logged(tmp_path: Path) -> None:
    tasks = (
        'per_task_sampling_configs { dc: "d" sampling_rate: 0.1 } '
        "per_task_sampling_configs { task_index: 1 sampling_rate: 0.2 } "
    )
    own = "per_task_sampling_configs { task_index: 0 sampling_rate: 0.3 }"
    for more, rate in (("", 0.5), (own, 0.3)):
        text = (
            f"model_config_list {{ config {{ {ENTRY} logging_config {{ "
            'log_collector_config { type: "tfrecord" filename_prefix: "/l/m" } '
            f"sampling_config {{ sampling_rate: 0.5 {tasks} {more} }} }} }} }}"
        )
        assert _read(tmp_path, text)["m"].log == LogOptions("/l/m", rate)


@pytest.mark.parametrize(
    ("policy", "versions"),
    [
        (VersionPolicy(1), [10]),
        (VersionPolicy(2), [2, 10]),
        (VersionPolicy(9), [1, 2, 10]),
        (VersionPolicy(None), [1, 2, 10]),
        (VersionPolicy(None, (2, 7)), [2]),
    ],
)
def test_versions(tmp_path: Path, policy: VersionPolicy, versions: list[int]) -> None:
    for name in ("1", "2", "10", "3.temp-ab", "temp", "-4", "٣", "9" * 30):
        (tmp_path / name).mkdir()
    found = aspired_versions(ModelConfig("m", str(tmp_path), policy))
    assert found == {v: str(tmp_path / str(v)) for v in versions}


def test_versions_in_a_store() -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    for version in (1, 2):
        store.pipe(f"/models/m/{version}/saved_model.pb", b"x")
    found = aspired_versions(ModelConfig("m", "memory://models/m", VersionPolicy(2)))
    assert sorted(found) == [1, 2]
    assert found[2].startswith("memory://")


def test_a_directory_that_is_away_changes_nothing(tmp_path: Path) -> None:
    source = VersionSource()
    configs = single_model("m", str(tmp_path / "m"))
    assert source.poll(configs) == {}
    (tmp_path / "m" / "5").mkdir(parents=True)
    assert source.poll(configs) == {"m": {5: str(tmp_path / "m" / "5")}}
