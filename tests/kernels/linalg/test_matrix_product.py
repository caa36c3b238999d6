"""Products of matrices are the same from either library, for strided matrices too."""

from __future__ import annotations

import pytest
import torch

from tensorloom.kernels.torch.linalg import matrix_product as module
from tensorloom.kernels.torch.linalg.matrix_product import matrix_product

M, K, N = 96, 150, 130


def matrices() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(0)
    a, b = torch.randn(M, K), torch.randn(K, N)
    return {
        "plain": (a, b),
        "a transposed": (torch.randn(K, M).t(), b),
        "b transposed": (a, torch.randn(N, K).t()),
        "both transposed": (torch.randn(K, M).t(), torch.randn(N, K).t()),
        "columns of a larger one": (torch.randn(M, K + 9)[:, 4 : K + 4], b),
        "one row for all": (torch.randn(K).expand(M, K), b),
        "large and transposed": (torch.randn(400, 300).t(), torch.randn(400, 20)),
        "few columns": (torch.randn(200, 100), torch.randn(100, 10)),
        "few columns, transposed": (
            torch.randn(100, 200).t(),
            torch.randn(10, 100).t(),
        ),
        "small": (torch.randn(3, 4), torch.randn(4, 5)),
        "no rows": (torch.randn(0, 4), torch.randn(4, 5)),
        "nothing to sum": (torch.randn(3, 0), torch.randn(0, 5)),
        "doubles": (a.double(), b.double()),
    }


@pytest.mark.parametrize("case", matrices())
@pytest.mark.parametrize("bias_rank", [0, 1, 2])
@pytest.mark.parametrize("other_maker", [False, True])
def test_values(
    case: str, bias_rank: int, other_maker: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_is_other_avx512", lambda: other_maker)
    if other_maker:
        operator = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
        if operator is None:
            pytest.skip("this torch has no oneDNN")
        monkeypatch.setattr(module, "_onednn", lambda: operator.default)
    a, b = matrices()[case]
    shape = (len(a), b.shape[1])[2 - bias_rank :]
    bias = torch.randn(shape, dtype=a.dtype) if bias_rank else None
    before = None if bias is None else bias.clone()
    expected = torch.mm(a.double(), b.double())
    if bias is not None:
        expected = expected + bias
    result = matrix_product(a, b, bias)
    assert result.dtype == a.dtype
    torch.testing.assert_close(result.double(), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(bias, before, rtol=0, atol=0)


def test_infinity_and_nan_spread() -> None:
    a, b = matrices()["plain"]
    a[0, 0], a[1, 0] = float("inf"), float("nan")
    result = matrix_product(a, b)
    assert bool(result[0].isinf().all())
    assert bool(result[1].isnan().all())
    assert bool(result[2:].isfinite().all())


def test_other_processors_use_mm(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = matrices()["plain"]
    monkeypatch.setattr(module, "_onednn", lambda: None)
    torch.testing.assert_close(matrix_product(a, b), torch.mm(a, b), rtol=0, atol=0)
