"""Certificates for tests, made by openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def make_certificates(folder: Path, name: str, alternatives: str) -> Path:
    """Two authorities, `ca` and `other`, and a task's certificate by the first.

    Args:
      name: the task's common name.
      alternatives: for whom it holds, as `IP:127.0.0.1`.
    """
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    # Keys of a curve are there at once; how long a search for primes takes varies.
    curve = ["-pkeyopt", "ec_paramgen_curve:prime256v1"]
    new = ["req", "-newkey", "ec", *curve, "-nodes", "-subj"]
    for authority in ("ca", "other"):
        _openssl(folder, *new, f"/CN={authority}", "-x509", "-keyout",
                 f"{authority}.key", "-out", f"{authority}.pem")  # fmt: skip
    (folder / "names").write_text(f"subjectAltName={alternatives}")
    _openssl(folder, *new, f"/CN={name}", "-keyout", "task.key", "-out", "task.csr")
    sign = ["x509", "-req", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    _openssl(folder, *sign, "-in", "task.csr", "-out", "task.pem", "-extfile", "names")
    return folder


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
