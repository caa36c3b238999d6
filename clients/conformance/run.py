"""Builds the clients, runs the conformance suite and the programs of each, and prints
the matrix of languages and cases.

Usage: python clients/conformance/run.py [--only "c go"] [--peers] [--write PAGE]

A client that cannot be built counts as failed. What each printed is kept in
build/clients/results, so that a run of one language renews its column alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from matrix import COLUMNS, matrix, write_page

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "clients"
BUILD = ROOT / "build" / "clients"
TABLES = sorted((CLIENTS / "conformance" / "cases").glob("*.txt"))
PEER221 = ROOT / os.environ.get("PEER221", ".venv-tf221")
PEER115 = ROOT / os.environ.get("PEER115", ".venv-tf115")
PROGRAMS = ("test", "digits", "saved-model")
# No step takes a tenth of it on a machine that is not loaded.
TIMEOUT = 1800


def make(folder: str, target: str, build: str, **variables: object) -> str:
    """What `make` printed; the last lines of its errors when it failed."""
    words = [f"{key}={value}" for key, value in variables.items()]
    command = ["make", "-s", "-C", str(CLIENTS / folder), target, *words]
    done = subprocess.run(
        [*command, f"BUILD={BUILD / build}"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )
    output = done.stdout
    if done.returncode and "fail " not in output:
        print(done.stderr[-2000:], file=sys.stderr)
        output += f"fail {target}: {done.stderr.strip()[-200:]!r}\n"
    return output


def run_client(language: str) -> str:
    """Runs all of one client; a line of "ok NAME" or "fail NAME: why" for each part."""
    library = ROOT / "build" / "capi" / "lib"
    variables = {
        "LIB_DIR": library,
        "LIBRARY": library / "libtensorloom.so",
        "INCLUDE": ROOT / "build" / "capi" / "include",
        "TABLES": " ".join(map(str, TABLES)),
        "DIGITS": BUILD / "digits.bin",
        "SAVED_MODEL": BUILD / "saved_model",
        "PYTHON": sys.executable,
        "PEER_PYTHON": PEER115 / "bin" / "python" if PEER115.exists() else "",
    }
    lines = [make(language, "conformance", language, **variables)]
    for program in PROGRAMS:
        output = make(language, program, language, **variables)
        failed = output.find(f"fail {program}:")
        print(f"{language} {program}: {output.strip().splitlines()[-1:]}")
        lines.append(output[failed:] if failed >= 0 else f"ok {program}\n")
    return "".join(lines)


def run_peers() -> dict[str, str]:
    """The suite in C on the libraries of TensorFlow: it must pass there too."""
    package = next(PEER221.glob("lib/python3*/site-packages/tensorflow"))
    folder = BUILD / "tf221"
    folder.mkdir(parents=True, exist_ok=True)
    names = [
        package / "libtensorflow_cc.so.2",
        package / "libtensorflow_framework.so.2",
    ]
    for name in names:
        link = folder / name.name
        if not link.exists():
            link.symlink_to(name)
    # To the linker they are one library by our name.
    script = f"INPUT({' '.join(map(str, names))})\n"
    (folder / "libtensorloom.so").write_text(script)
    variables = {
        "LIB_DIR": folder,
        "INCLUDE": package / "include",
        "TABLES": " ".join(map(str, TABLES)),
        "SAVED_MODEL": BUILD / "saved_model",
        "HOST": f"{PEER115}/bin/python {CLIENTS}/conformance/python_host.py",
    }
    return {
        "c-tf221": make("c", "conformance-peer", "c-tf221", **variables),
        "c-tf115": make("c", "conformance-hosted", "c-tf221", **variables),
    }


def prepare() -> None:
    """Writes what the suite and the programs read."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for script, target in (
        ("saved_model", "saved_model"),
        ("digits_data", "digits.bin"),
    ):
        path = BUILD / target
        if not path.exists():
            file = CLIENTS / "conformance" / f"{script}.py"
            subprocess.run([sys.executable, file, path], check=True, timeout=TIMEOUT)


def main() -> int:
    """Returns 1 when a case failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--only", default="c go javascript cpp java rust", help="languages, as 'c go'"
    )
    parser.add_argument(
        "--peers", action="store_true", help="TensorFlow's libraries too"
    )
    parser.add_argument("--write", type=Path, help="the page whose matrix is renewed")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    prepare()
    found = {language: run_client(language) for language in options.only.split()}
    if options.peers:
        found |= run_peers()
    results = BUILD / "results"
    results.mkdir(exist_ok=True)
    for column, output in found.items():
        (results / f"{column}.txt").write_text(output)
    texts = {
        c: (results / f"{c}.txt").read_text()
        for c in COLUMNS
        if (results / f"{c}.txt").exists()
    }
    text = matrix(TABLES, texts)
    print(text)
    if options.write:
        write_page(options.write, text)
    failures = [
        f"{column}: {line}"
        for column, output in found.items()
        for line in output.splitlines()
        if line.startswith("fail ")
    ]
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
