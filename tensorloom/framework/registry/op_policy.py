"""Which ops a server runs for its clients.

Whoever may run graphs on a server can read and write its files, open connections and,
in the server's own process, call Python. A policy takes ops out of what clients may
send.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.registry import op_registry

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

#: The name of the preset.
SAFE: Final = "safe"

#: Ops that reach files, the network or Python: what `safe` refuses. Patterns, so that
#: ops of later versions and of other packages are among them.
SAFE_PATTERNS: Final = (
    # Python.
    "*PyFunc*",
    "GeneratorDataset",
    # Files, whole or by records.
    "*File*",
    "*Save*",
    "*Restore*",
    "*Checkpoint*",
    "*Shard*Filename*",
    "*Reader*",
    "RecordInput",
    "*RecordDataset*",
    "*TFRecord*",
    "*LineDataset*",
    "*CSVDataset*",
    "*CacheDataset*",
    "*SnapshotDataset*",
    "LoadDataset",
    "DatasetFromGraph",  # whose graph no policy has seen
    "Skipgram",
    "*codeProto*",  # whose descriptors may be a file
    "*SqlDataset*",
    "*LMDB*",
    "*VocabRemapping*",
    "LoadAndRemapMatrix",
    "ImmutableConst",
    "FixedUnigramCandidateSampler",
    "*SummaryWriter*",
    "*SummaryDbWriter*",
    "WriteGraphSummary",
    "Import*Event*",
    "PrintV2",
    "Debug*",
    "_DebugBreak",
    # The network, and other programs.
    "*Rpc*",
    "*Kafka*",
    "*Bigtable*",
    "*BigQuery*",
    "*Kinesis*",
    "Dataset*Service*",
    "*DataServiceDataset*",
    "*InputServiceDataset*",
    "RegisterInputDataset",
    "*Decode*Video*",
    "DecodeAudio*",
)


class OpPolicy:
    """Refuses ops by name."""

    def __init__(self, denied: Sequence[str] = ()) -> None:
        """Makes a policy.

        Args:
          denied: names of ops, patterns such as `*PyFunc*`, or the preset `safe`.

        Raises:
          ValueError: a name is no pattern and no registered op.
        """
        patterns: list[str] = []
        for name in denied:
            if name == SAFE:
                patterns.extend(SAFE_PATTERNS)
                continue
            if not any(c in name for c in "*?[") and op_registry.find(name) is None:
                raise ValueError(f"There is no op {name!r} to deny")
            patterns.append(name)
        self._patterns = tuple(patterns)
        self._answers: dict[str, bool] = {}

    @property
    def is_open(self) -> bool:
        """Whether every op is allowed."""
        return not self._patterns

    def allows(self, op: str) -> bool:
        """Whether clients may use an op."""
        answer = self._answers.get(op)
        if answer is None:
            answer = not any(fnmatchcase(op, p) for p in self._patterns)
            if len(self._answers) < 10_000:  # names of functions come from outside
                self._answers[op] = answer
        return answer

    def check(self, graph: GraphIR) -> None:
        """Checks a graph that comes from outside, with its functions.

        Raises:
          errors.PermissionDeniedError: it has an op that is refused.
        """
        if not self._patterns:
            return
        self._check(graph.nodes.values(), "")
        for name, function in graph.functions.items():
            where = f" of function '{name}'"
            self._check(function.nodes.values(), where)
            if function.problem is not None:  # another task may be able to read it
                self._check(function.problem.definition.node_def, where)

    def _check(self, nodes: Iterable[Any], where: str) -> None:
        for node in nodes:
            if not self.allows(node.op):
                raise errors.PermissionDeniedError(
                    None,
                    None,
                    f"Node '{node.name}'{where} is of op {node.op}, which this server "
                    "does not run for its clients",
                )


ALLOW_ALL: Final = OpPolicy()
