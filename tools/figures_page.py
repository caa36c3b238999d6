"""Writes docs/figures.md, and the table of figures in README.md, from a benchmark run.

Usage: python tools/figures_page.py FILE..., what `make bench JSON=FILE` wrote. The
parts of a run (`ONLY=REGEX`) on one machine may be in several files.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.report import amount

_REPOSITORY = Path(__file__).parents[1]
PAGE = _REPOSITORY / "docs" / "figures.md"
README = _REPOSITORY / "README.md"
BEGIN = "<!-- figures: written by `make figures` from here on -->\n"
END = "<!-- figures end -->\n"
HEAD = """\
# Figures

All rows of one run of `make bench`: medians, and the ratio of our time to that of the
faster TensorFlow beside it (below 1 is faster), or to the library's alone where
TensorFlow has no such thing. A target with a unit is of our own figure. Made by
`make figures`; do not edit.

"""
# What of it the README shows.
SHOWN = (
    "null step (tf.no_op)",
    "60 elementwise ops on an 8x64 tensor",
    "while_loop, 10,000 scalar iterations",
    "MLP 784-128-128-10, Adam step, batch 32",
    "MLP 784-128-128-10, Adam step, batch 512",
    "CNN 28x28x1, Adam step, batch 64",
    "CNN 28x28x1, inference, batch 64",
    "residual network 32x32x3, Momentum step, batch 32",
    "slim ResNet-50, batch 8, training step",
    "LSTM, 35 steps unrolled, clipped SGD step",
    "LSTM, 35 steps, dynamic_rnn, clipped SGD step",
    "bidirectional GRU, sizes unknown, Adam step",
    "wide and deep, 20 tables of 5,000 rows, Adagrad step, batch 256",
    "feature columns: 20 columns, 512 rows, Adagrad step",
    "word2vec, NCE step, vocabulary 100,000",
    "greedy decoding, 50 steps, TensorArray",
    "beam search, 10 beams, 50 steps, batch of 8",
    "CRF log-likelihood and gradient, 32 sequences of 50",
    "boosted trees Estimator, 100 trees on 10,000 rows",
    "MonitoredTrainingSession over a bare session, added a step",
    "Estimator from construction to first step",
    "split and look up 100,000 tokens",
    "decode a JPEG of 375x500 and resize it",
    "parse 10,000 Examples of ten features",
    "decode_csv of 10,000 lines of ten fields",
    "dataset: map over 20,000 scalars",
    "dataset: shuffle 20,000 scalars, buffer of 10,000",
    "write 100,000 records of 1 kB",
    "read 100,000 records of 1 kB, tf_record_iterator",
    "load a frozen graph of 10,000 nodes",
    "save 512 MB of variables",
    "restore 512 MB of variables",
    "cluster: null step through a server, one task",
    "cluster: null step on two workers",
    "cluster: worker reads a ps variable, adds",
    "cluster: 100 MB ps to worker, summed there",
    "cluster: async training, 1 ps, 2 workers",
    "cluster: sync training, 1 ps, 2 workers",
    "serving: REST predict, MLP, one client",
    "serving: 64 clients, batches, CNN 28x28",
)


def all_rows(run: dict[str, Any]) -> str:
    """The page: every row of the run, with both TensorFlows."""
    lines = [
        f"{run['machine']}.\n\n",
        "| | tensorloom | TensorFlow 2.21 | 1.15 | ratio | target |\n",
        "| --- | --- | --- | --- | --- | --- |\n",
    ]
    for row in run["rows"]:
        medians, unit = row["medians"], row["unit"]
        target = row["target"]
        lines.append(
            f"| {row['workload'].replace('|', '/')} | {amount(row['ours'], unit)} "
            f"| {amount(medians.get('2.21'), unit)} "
            f"| {amount(medians.get('1.15'), unit)} | {_ratio(row)} "
            f"| {amount(row['limit'], unit) if target is None else f'{target:.2f}'} |\n"
        )
    return HEAD + "".join(lines)


def shown_rows(run: dict[str, Any]) -> str:
    """The README's table, with the machine of the run.

    Raises:
      ValueError: a row that it shows was not measured.
    """
    rows = {row["workload"]: row for row in run["rows"]}
    missing = [name for name in SHOWN if _ratio(rows.get(name, {})) == "-"]
    if missing:
        raise ValueError(f"not measured in this run: {', '.join(missing)}")
    lines = [
        f"{run['machine']}:\n\n",
        "| | tensorloom | TensorFlow | ratio |\n",
        "| --- | --- | --- | --- |\n",
    ]
    for name in SHOWN:
        row = rows[name]
        ours, theirs = (amount(row[key], row["unit"]) for key in ("ours", "tensorflow"))
        lines.append(f"| {name} | {ours} | {theirs} | {_ratio(row)} |\n")
    return "".join(lines)


def with_table(readme: str, table: str) -> str:
    """The text of the README with another table between its two marks."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def _ratio(row: dict[str, Any]) -> str:
    ratio = row.get("ratio")
    return "-" if ratio is None else f"{ratio:.2f}"


def main(arguments: list[str]) -> int:
    """Reads the run and writes both files."""
    parts = [json.loads(Path(path).read_text(encoding="utf-8")) for path in arguments]
    rows = [row for part in parts for row in part["rows"]]
    run = {"machine": parts[0]["machine"], "rows": rows}
    table = shown_rows(run)
    PAGE.write_text(all_rows(run), encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    README.write_text(with_table(readme, table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
