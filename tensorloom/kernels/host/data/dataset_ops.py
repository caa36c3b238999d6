"""The kernels of datasets: importing their families registers them."""

from __future__ import annotations

from tensorloom.framework.registry.package_modules import import_all
from tensorloom.kernels.host import datasets

import_all(datasets)
