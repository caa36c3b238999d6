"""The names of `tf.contrib.distributions`, which are public elsewhere too."""

from __future__ import annotations

from tensorloom.distributions.bernoulli import Bernoulli
from tensorloom.distributions.beta import Beta
from tensorloom.distributions.categorical import Categorical
from tensorloom.distributions.dirichlet import Dirichlet
from tensorloom.distributions.dirichlet_multinomial import DirichletMultinomial
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL, kl_divergence
from tensorloom.distributions.exponential import Exponential
from tensorloom.distributions.gamma import Gamma
from tensorloom.distributions.laplace import Laplace
from tensorloom.distributions.multinomial import Multinomial
from tensorloom.distributions.normal import Normal
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    ReparameterizationType,
)
from tensorloom.distributions.softplus_parameters import (
    BetaWithSoftplusConcentration,
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
    LaplaceWithSoftplusScale,
    NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale,
)
from tensorloom.distributions.static_values import (
    reduce_weighted_logsumexp,
    softplus_inverse,
)
from tensorloom.distributions.student_t import StudentT
from tensorloom.distributions.triangular import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    tridiag,
)
from tensorloom.distributions.uniform import Uniform
from tensorloom.framework.export import export_value

export_value(Bernoulli, "contrib.distributions.Bernoulli")
export_value(Beta, "contrib.distributions.Beta")
export_value(Categorical, "contrib.distributions.Categorical")
export_value(Dirichlet, "contrib.distributions.Dirichlet")
export_value(DirichletMultinomial, "contrib.distributions.DirichletMultinomial")
export_value(Distribution, "contrib.distributions.Distribution")
export_value(Exponential, "contrib.distributions.Exponential")
export_value(FULLY_REPARAMETERIZED, "contrib.distributions.FULLY_REPARAMETERIZED")
export_value(Gamma, "contrib.distributions.Gamma")
export_value(Laplace, "contrib.distributions.Laplace")
export_value(Multinomial, "contrib.distributions.Multinomial")
export_value(NOT_REPARAMETERIZED, "contrib.distributions.NOT_REPARAMETERIZED")
export_value(Normal, "contrib.distributions.Normal")
export_value(RegisterKL, "contrib.distributions.RegisterKL")
export_value(ReparameterizationType, "contrib.distributions.ReparameterizationType")
export_value(StudentT, "contrib.distributions.StudentT")
export_value(Uniform, "contrib.distributions.Uniform")
export_value(kl_divergence, "contrib.distributions.kl_divergence")
for _value in (
    BetaWithSoftplusConcentration,
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
    LaplaceWithSoftplusScale,
    NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale,
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    reduce_weighted_logsumexp,
    softplus_inverse,
    tridiag,
):
    export_value(_value, f"contrib.distributions.{_value.__name__}")
