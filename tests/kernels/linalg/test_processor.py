"""The processor is told apart by what Linux writes of it."""

from pathlib import Path

import pytest

from tensorloom.kernels.torch.linalg import processor

_FLAGS = "fpu sse2 avx2 avx512f avx512dq avx512cd avx512bw avx512vl"


@pytest.mark.parametrize(
    ("about", "has_avx512", "is_other"),
    [
        ({"vendor_id": "AuthenticAMD", "flags": _FLAGS}, True, True),
        ({"vendor_id": "GenuineIntel", "flags": _FLAGS}, True, False),
        ({"flags": _FLAGS}, True, False),
        ({"vendor_id": "AuthenticAMD", "flags": "fpu avx2 avx512f"}, False, False),
        ({"vendor_id": "AuthenticAMD"}, False, False),
        ({}, False, False),
    ],
)
def test_processors(about: dict[str, str], has_avx512: bool, is_other: bool) -> None:
    assert processor.has_avx512(about) is has_avx512
    assert processor.is_other_avx512(about) is is_other


@pytest.mark.parametrize(
    ("about", "is_halved"),
    [
        ({"vendor_id": "AuthenticAMD", "flags": _FLAGS, "cpu family": "25"}, True),
        ({"vendor_id": "AuthenticAMD", "flags": _FLAGS, "cpu family": "26"}, False),
        ({"vendor_id": "AuthenticAMD", "flags": _FLAGS}, False),
        ({"vendor_id": "AuthenticAMD", "flags": "avx2", "cpu family": "25"}, False),
        ({"vendor_id": "GenuineIntel", "flags": _FLAGS, "cpu family": "6"}, False),
        ({}, False),
    ],
)
def test_units_of_half_the_width(about: dict[str, str], is_halved: bool) -> None:
    assert processor.has_halved_avx512(about) is is_halved


def test_description_is_of_the_first_processor(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(
        f"processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: {_FLAGS}\n\n"
        "processor\t: 1\nvendor_id\t: GenuineIntel\n"
    )
    assert processor.description(str(path)) == {
        "processor": "0",
        "vendor_id": "AuthenticAMD",
        "flags": _FLAGS,
    }
    assert processor.description(str(tmp_path / "none")) == {}
