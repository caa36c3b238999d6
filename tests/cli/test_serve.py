"""`tensorloom serve`: its flags, and a process from start to end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tensorloom.cli.main import main
from tests.serving import models

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--model_base_path or --model_config_file"),
        (["--platform_config_file=f"], "there is one platform"),
        (["--prefer_tflite_model"], "no TensorFlow Lite"),
        (["--mixed_precision=false"], "--model_base_path or"),
        (["--use_alts_credentials=true"], "use --ssl_config_file"),
        (["--model_config_file=no/such/file"], "Failed to start server"),
        (["--grpc_max_threads=4", "--rest_api_num_threads=4"], "has no effect"),
    ],
)
def test_mistakes(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port=-1", *flags]) == 2
    assert message in capsys.readouterr().err


def test_values_of_flags(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--enable_batching=perhaps", "--port=x", "--no_such_flag"):
        with pytest.raises(SystemExit):
            main(["serve", flag])
    capsys.readouterr()


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_process(tmp_path: Path) -> None:
    models.half_plus(tmp_path / "half", 1)
    command = [sys.executable, "-m", "tensorloom", "serve", "--model_name=half"]
    command += ["--port=-1", "--rest_api_port=-1", "--enable_batching"]
    process = subprocess.Popen(
        [*command, f"--model_base_path={tmp_path / 'half'}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    port = ""
    for line in process.stderr:
        if match := re.match(r"HTTP is at (\S+)", line):
            port = match[1]
        if "All models are available" in line:
            break
    body = json.dumps({"instances": [1]}).encode()
    url = f"http://{port}/v1/models/half:predict"
    with urllib.request.urlopen(url, body, timeout=30) as response:
        assert json.load(response) == {"predictions": [2.5]}
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 0
