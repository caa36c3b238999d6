"""Files of BatchingParameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorloom.framework import errors
from tensorloom.serving.batching.parameters import parameters_of_model, read_parameters

SIZE = "max_batch_size { value: 8 }"


def _file(tmp_path: Path, text: str) -> str:
    file = tmp_path / "batching_params.pbtxt"
    file.write_text(text)
    return str(file)


def test_values(tmp_path: Path) -> None:
    text = (
        f"{SIZE} batch_timeout_micros {{ value: 5000 }} "
        "max_enqueued_batches { value: 3 } num_batch_threads { value: 2 } "
        "allowed_batch_sizes: 4 allowed_batch_sizes: 8 "
        'pad_variable_length_inputs: true thread_pool_name { value: "p" }'
    )
    found = read_parameters(_file(tmp_path, text))
    assert (found.max_batch_size, found.timeout_s, found.max_enqueued_batches) == (
        8,
        0.005,
        3,
    )
    assert (found.parallel_batches, found.allowed_sizes) == (2, (4, 8))
    assert (found.pads_rows, found.pool_name, found.splits) == (True, "p", False)
    assert parameters_of_model(str(tmp_path)) == found
    assert parameters_of_model(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "Invalid protobuf file"),
        ("max_batch_size { value: 0 }", "max_batch_size must be at least 1"),
        (f"{SIZE} allowed_batch_sizes: 4", "must match max_batch_size"),
        (
            f"{SIZE} allowed_batch_sizes: 8 allowed_batch_sizes: 4",
            "monotonically increasing",
        ),
        (
            f"{SIZE} max_execution_batch_size {{ value: 9 }}",
            "greater than or equal to max_execution_batch_size",
        ),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        read_parameters(_file(tmp_path, text))
    assert message in caught.value.message
