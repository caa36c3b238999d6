"""The ops that update variables by an optimizer's rule, and which NumPy computes."""

from __future__ import annotations

from typing import Final

from tensorloom.kernels.host.training.update_rules import FORMULAS

DENSE_OPS: Final = [
    f"{form}Apply{rule}" for form in ("", "Resource") for rule in FORMULAS
]
SPARSE_OPS: Final = [
    f"{form}SparseApply{rule}" for form in ("", "Resource") for rule in FORMULAS
]
FUSED_RULES: Final = ("GradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad")
FUSED_OPS: Final = [
    f"_Fused{form}Apply{rule}" for form in ("", "Resource") for rule in FUSED_RULES
]
FUSED_SPARSE_OPS: Final = [f"_Fused{op}" for op in SPARSE_OPS]
# So many variables of at most so many elements each NumPy updates as soon as torch.
MOST_BY_NUMPY: Final = 4
ELEMENTS_BY_NUMPY: Final = 4096
