"""Pipelines give the elements that TensorFlow 1.15 was recorded to give."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tests.data import pipelines

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "recorded/pipelines_1_15.json").read_text()
)


@pytest.mark.parametrize("name", pipelines.PIPELINES)
def test_elements_are_as_recorded(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert pipelines.elements(tf, pipelines.PIPELINES[name]) == RECORDED[name]


def test_cardinalities_are_as_recorded() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the graph grows between steps
        assert pipelines.cardinalities(tf) == RECORDED["cardinalities"]
