"""The command line itself."""

from __future__ import annotations

import argparse
import json

import pytest

from tensorloom.cli.actions import Action, run
from tensorloom.cli.main import main


def test_without_a_command_the_help_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "run a program" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "shown"),
    [
        (["--help"], 0, "COMMAND"),
        (["--version"], 0, "tensorloom "),
        (["run", "--help"], 0, "SCRIPT".lower()),
        (["run"], 2, "required"),
        (["no-such-command"], 2, "no-such-command"),
    ],
)
def test_arguments(
    arguments: list[str],
    status: int,
    shown: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == status
    output = capsys.readouterr()
    assert shown in output.out + output.err


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupt_is_a_line_and_an_exit_code(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(options: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    action = Action("count", "counts", lambda parser: None, interrupted)
    options = argparse.Namespace(action=action, json=as_json)
    assert run("records", options) == 130
    output = capsys.readouterr()
    assert output.err == "tensorloom records count: interrupted\n"
    assert not as_json or json.loads(output.out) == {"error": "interrupted"}
