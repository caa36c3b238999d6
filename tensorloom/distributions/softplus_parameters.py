"""Distributions whose positive parameters are softplus of what is given."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.beta import Beta
from tensorloom.distributions.exponential import Exponential
from tensorloom.distributions.gamma import Gamma
from tensorloom.distributions.laplace import Laplace
from tensorloom.distributions.normal import Normal
from tensorloom.distributions.student_t import StudentT
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


def _positive(value: Any, name: str) -> Any:
    return nn_ops.softplus(value, name=f"softplus_{name}")


class BetaWithSoftplusConcentration(Beta):
    """`Beta` of softplus of the concentrations."""

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            first = _positive(concentration1, "concentration1")
            second = _positive(concentration0, "concentration0")
            super().__init__(first, second, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class ExponentialWithSoftplusRate(Exponential):
    """`Exponential` of softplus of the rate."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            rate = _positive(rate, "rate")
            super().__init__(rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(Gamma):
    """`Gamma` of softplus of the concentration and of the rate."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            concentration = _positive(concentration, "concentration")
            rate = _positive(rate, "rate")
            super().__init__(concentration, rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class LaplaceWithSoftplusScale(Laplace):
    """`Laplace` of softplus of the scale."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            scale = _positive(scale, "scale")
            super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class NormalWithSoftplusScale(Normal):
    """`Normal` of softplus of the scale."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            scale = _positive(scale, "scale")
            super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(StudentT):
    """`StudentT` of whole positive degrees of freedom, and softplus of the scale."""

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            df = math_ops.floor(math_ops.abs(df))
            scale = _positive(scale, "scale")
            super().__init__(df, loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters
