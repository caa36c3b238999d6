"""What TensorBoard's profiler shows of a run, in the Python of its environment.

python profile_reader.py LOGDIR RUN HOST: JSON on standard output, the answer to the
trace viewer.
"""

import gzip
import re
import subprocess
import sys
import urllib.request

PATIENCE_S = 120


def main(logdir, run, host):
    board = [sys.executable, "-m", "tensorboard.main", "--logdir", logdir]
    server = subprocess.Popen(
        [*board, "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        addresses = (re.search(r"at (http://\S+)", line) for line in server.stderr)
        address = next(found[1] for found in addresses if found)
        query = f"run={run}&tag=trace_viewer&host={host}"
        url = f"{address}data/plugin/profile/data?{query}"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            text = answer.read()
        # It is compressed, whatever is asked for.
        print(gzip.decompress(text).decode())
    finally:
        server.kill()
        server.communicate()


if __name__ == "__main__":
    main(*sys.argv[1:])
