"""TensorBoard's own page of our files, in a browser without a screen."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorloom as tf
from tests.peer.peers import python_of

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine"),
    pytest.mark.timeout(600),
]


def _write(directory: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="input_of_test")
        merged = tf.summary.merge(
            [
                tf.summary.scalar("mean_of_test", tf.reduce_mean(x)),
                tf.summary.histogram("values_of_test", x),
                tf.summary.image("image_of_test", tf.reshape(x, [1, 4, 4, 1])),
            ]
        )
        with tf.summary.FileWriter(str(directory), graph) as writer:
            for step in range(10):
                values = [float(step + i) for i in range(16)]
                writer.add_summary(session.run(merged, {x: values}), step)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where TensorBoard serves a directory of our files."""
    python = python_of("2.21")
    if python is None:
        pytest.skip("no TensorBoard")
    _write(tmp_path)
    server = subprocess.Popen(
        [python, "-m", "tensorboard.main", "--logdir", tmp_path, "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        for line in server.stderr:
            found = re.search(r"at (http://\S+)", line)
            if found:
                yield found[1]
                break
        else:
            pytest.fail("TensorBoard did not start")
    finally:
        server.kill()
        server.communicate()


def _page(address: str, profile: Path) -> str:
    """The page after its scripts have run."""
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1400,2400",
            "--virtual-time-budget=30000",
            f"--user-data-dir={profile}",
            "--dump-dom",
            address,
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout


def test_the_page_shows_scalars_histograms_images(address: str, tmp_path: Path) -> None:
    page = _page(f"{address}?forceSVG=true#timeseries", tmp_path / "profile")
    for tag in ("mean_of_test", "values_of_test", "image_of_test"):
        assert tag in page
    for card in ("scalar-card", "image-card"):
        assert card in page
