"""CTC loss and its gradient over torch tensors (Graves et al. 2006, section 4).

The forward and backward recursions are in log space and float64; on a GPU all sequences
of a batch go through them together. A sequence of labels is extended by blanks: before,
between and behind them; `u` is a place in that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)

# Bound once: looking an operator up costs as much as a small kernel.
_native_loss = torch.ops.aten._ctc_loss.Tensor
_native_gradient = torch.ops.aten._ctc_loss_backward.Tensor
_NEVER = -float("inf")
_LABELS = ("labels_indices", "labels_values", "sequence_length")


class _Labels(NamedTuple):
    """The extended sequences of a batch."""

    extended: Any  # int64 [batch, places], blanks behind the end
    places: Any  # int64 [batch]: how many there are
    skipped: Any  # bool [batch]: rows that are too long, or have no steps


def _rows(indices: Any, values: Any, batch: int) -> list[list[int]]:
    """Labels by row of the batch; checks that they are a sparse matrix."""
    indices, values = np.asarray(indices), np.asarray(values)
    if indices.ndim != 2 or indices.shape[1] != 2:
        raise invalid_argument("labels_indices is not a matrix")
    if values.ndim != 1:
        raise invalid_argument("labels_values is not a vector")
    if len(indices) != len(values):
        raise invalid_argument(
            "labels_indices and labels_values must contain the same number of rows, "
            f"but saw {len(indices)} and {len(values)}"
        )
    longest = int(indices[:, 1].max()) + 1 if len(indices) else 0
    rows: list[list[int]] = [[] for _ in range(batch)]
    before = (-1, -1)
    for i, ((row, column), value) in enumerate(
        zip(indices.tolist(), values.tolist(), strict=True)
    ):
        if not (0 <= row < batch and column >= 0):
            raise invalid_argument(
                f"label SparseTensor is not valid: indices[{i}] = [{row},{column}] is "
                f"out of bounds: need 0 <= index < [{batch},{longest}]"
            )
        if (row, column) <= before:
            raise invalid_argument(
                f"label SparseTensor is not valid: indices[{i}] = [{row},{column}] is "
                "out of order"
            )
        before = (row, column)
        rows[row].append(value)
    return rows


def _sequence(labels: list[int], row: int, classes: int, collapse: bool) -> list[int]:
    """The labels that count: up to the first that is blank or beyond."""
    kept: list[int] = []
    finished = False
    for i, label in enumerate(labels):
        if collapse and i and label == labels[i - 1]:
            continue
        if label >= classes - 1:
            finished = True
        elif finished:
            raise invalid_argument(
                "Saw a non-null label (index >= num_classes - 1) following a null "
                f"label, batch: {row} num_classes: {classes} labels: "
                f"{','.join(map(str, labels))} labels seen so far: "
                f"{','.join(map(str, kept))}"
            )
        else:
            kept.append(label)
    if any(label < 0 for label in kept):
        raise invalid_argument(
            f"All labels must be nonnegative integers, batch: {row} labels: "
            f"{','.join(map(str, kept))}"
        )
    return kept


class _Loss:
    """The attrs of a node, decoded."""

    def __init__(self, c: OpKernelConstruction, blank_first: bool) -> None:
        self.collapse = c["preprocess_collapse_repeated"]
        self.merge = c["ctc_merge_repeated"]
        self.ignore_longer = c["ignore_longer_outputs_than_inputs"]
        self.blank_first = blank_first

    def labels(self, shape: Any, indices: Any, values: Any, lengths: Any) -> _Labels:
        """Checks labels and lengths and extends the sequences by blanks."""
        steps, batch, classes = shape
        _check_lengths(lengths, steps, batch)
        sequences, skipped = [], np.zeros(batch, bool)
        for row, labels in enumerate(_rows(indices, values, batch)):
            sequence = self._checked(labels, row, classes)
            # TensorFlow's first version counts labels that it will drop.
            needed = len(sequence) if self.blank_first else len(labels)
            if needed > lengths[row]:
                if not self.ignore_longer:
                    raise invalid_argument(
                        "Not enough time for target transition sequence (required: "
                        f"{needed}, available: {lengths[row]}){row}You can turn "
                        "this error into a warning by using the flag "
                        "ignore_longer_outputs_than_inputs"
                    )
                skipped[row] = True
                sequence = []
            skipped[row] |= lengths[row] == 0
            sequences.append(sequence)
        longest = max((len(s) for s in sequences), default=0)
        blank = 0 if self.blank_first else classes - 1
        extended = np.full((batch, 2 * longest + 1), blank, np.int64)
        for row, sequence in enumerate(sequences):
            extended[row, 1 : 2 * len(sequence) : 2] = sequence
        places = np.array([2 * len(s) + 1 for s in sequences], np.int64)
        return _Labels(extended, places, skipped)

    def _checked(self, labels: list[int], row: int, classes: int) -> list[int]:
        if not self.blank_first:
            if not labels:
                raise invalid_argument(f"Labels length is zero in batch {row}")
            return _sequence(labels, row, classes, self.collapse)
        for label in labels:
            if not 0 < label < classes:
                raise invalid_argument(
                    f"Labels must be in [1, {classes}), batch: {row} labels: "
                    f"{','.join(map(str, labels))}"
                )
        if not self.collapse:
            return labels
        return [x for i, x in enumerate(labels) if not i or x != labels[i - 1]]


def _check_lengths(lengths: Any, steps: int, batch: int) -> None:
    if lengths.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    if len(lengths) != batch:
        raise invalid_argument(
            "len(sequence_length) != batch_size.  len(sequence_length):  "
            f"{len(lengths)} batch_size: {batch}"
        )
    for row in np.flatnonzero((lengths > steps) | (lengths < 0)):
        raise invalid_argument(f"sequence_length({row}) <= {steps}")


def _shifted(value: torch.Tensor, by: int) -> torch.Tensor:
    """Moved along the places; what comes in is impossible."""
    pads = (by, 0) if by > 0 else (0, -by)
    moved = torch.constant_pad_nd(value, pads, _NEVER)
    return moved[:, : value.shape[1]] if by > 0 else moved[:, -by:]


class _Lattice:
    """The recursions over [time, batch, places]."""

    def __init__(
        self, log_probs: torch.Tensor, labels: _Labels, blank: int, merge: bool
    ) -> None:
        device = log_probs.device
        extended = torch.from_numpy(labels.extended).to(device)
        self.extended = extended
        steps = len(log_probs)
        self.emit = log_probs.gather(2, extended.expand(steps, *extended.shape))
        places = torch.arange(extended.shape[1], device=device)
        self.last = torch.from_numpy(labels.places).to(device)[:, None] - 1
        self.inside = places <= self.last
        is_blank = extended == blank
        stays = is_blank | merge
        repeated = torch.zeros_like(is_blank)
        repeated[:, 2:] = (extended[:, 2:] == extended[:, :-2]) & merge
        skips = ~is_blank & ~repeated & (places >= 2)
        self.stay = torch.zeros_like(self.emit[0]).masked_fill_(~stays, _NEVER)
        self.skip = torch.zeros_like(self.emit[0]).masked_fill_(~skips, _NEVER)
        self.places = places

    def forward(self) -> torch.Tensor:
        """log P(the labels up to u in the steps up to t)."""
        alpha = torch.empty_like(self.emit)
        current = torch.where((self.places < 2) & self.inside, self.emit[0], _NEVER)
        alpha[0] = current
        for t in range(1, len(self.emit)):
            reached = torch.logaddexp(current + self.stay, _shifted(current, 1))
            reached = torch.logaddexp(reached, _shifted(current, 2) + self.skip)
            current = (reached + self.emit[t]).masked_fill(~self.inside, _NEVER)
            alpha[t] = current
        return alpha

    def backward(self, lengths: torch.Tensor) -> torch.Tensor:
        """log P(the labels behind u in the steps behind t)."""
        beta = torch.full_like(self.emit, _NEVER)
        ends = (self.places >= self.last - 1) & self.inside
        start = torch.where(ends, 0.0, _NEVER).to(self.emit.dtype)
        current = beta[0].clone()
        for t in range(len(self.emit) - 1, -1, -1):
            if t + 1 < len(self.emit):
                ahead = current + self.emit[t + 1]
                reached = torch.logaddexp(ahead + self.stay, _shifted(ahead, -1))
                skipped = _shifted(ahead + self.skip, -2)
                current = torch.logaddexp(reached, skipped)
            is_last = (lengths == t + 1)[:, None]
            current = torch.where(is_last, start, current)
            current = current.masked_fill(~self.inside, _NEVER)
            beta[t] = current
        return beta


def _loss_and_gradient(
    inputs: torch.Tensor, labels: _Labels, lengths: Any, loss: _Loss
) -> tuple[torch.Tensor, torch.Tensor]:
    steps, _, classes = inputs.shape
    log_probs = inputs.double().log_softmax(2)
    blank = 0 if loss.blank_first else classes - 1
    counts = torch.from_numpy(lengths.astype(np.int64)).to(inputs.device)
    if log_probs.is_cpu:
        total, gradient = _by_loop(log_probs, labels, lengths, blank, loss.merge)
    elif loss.merge and labels.extended.shape[1] > 1:
        total, gradient = _merging(log_probs, labels, counts, blank)
    else:
        total, gradient = _by_lattice(log_probs, labels, counts, blank, loss.merge)
    skipped = torch.from_numpy(labels.skipped).to(inputs.device)
    active = torch.arange(steps, device=inputs.device)[:, None] < counts
    active &= ~skipped
    # TensorFlow's loss for dense labels leaves the softmax in steps past the length.
    beyond = log_probs.exp() if loss.blank_first else torch.zeros_like(gradient)
    gradient = torch.where(active[:, :, None], gradient, beyond)
    return torch.where(skipped, 0.0, -total), gradient


def _by_loop(
    log_probs: torch.Tensor, labels: _Labels, lengths: Any, blank: int, merge: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `_by_lattice`, in host memory, in two thirds of torch's time."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.nn import ctc_loss

    log_probs = log_probs.contiguous()
    gradient = log_probs.exp()
    total = np.full(len(lengths), _NEVER)
    ctc_loss.expect(
        log_probs.numpy(),
        labels.extended,
        labels.places,
        np.ascontiguousarray(lengths, np.int64),
        blank,
        merge,
        total,
        gradient.numpy(),
    )
    return torch.from_numpy(total), gradient


def _merging(
    log_probs: torch.Tensor, labels: _Labels, counts: torch.Tensor, blank: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """(log P of each sequence, gradient of -log P for the logits), as torch has it.

    As `_by_lattice` for the usual way, where repeated labels are merged.
    """
    device = log_probs.device
    targets = torch.from_numpy(labels.extended[:, 1::2].copy()).to(device)
    sizes = torch.from_numpy(labels.places // 2).to(device)
    loss, alpha = _native_loss(log_probs, targets, counts, sizes, blank)
    gradient = _native_gradient(
        torch.ones_like(loss),
        log_probs,
        targets,
        counts,
        sizes,
        loss,
        alpha,
        blank,
    )
    impossible = torch.isinf(loss)[:, None]
    return -loss, torch.where(impossible, log_probs.exp(), gradient)


def _by_lattice(
    log_probs: torch.Tensor,
    labels: _Labels,
    counts: torch.Tensor,
    blank: int,
    merge: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(log P of each sequence, gradient of -log P for the logits)."""
    lattice = _Lattice(log_probs, labels, blank, merge)
    both = lattice.forward() + lattice.backward(counts)
    total = both[0].logsumexp(1)
    # Where no path is possible, nothing is expected of any class.
    share = (both - total[:, None].nan_to_num(0.0, neginf=0.0)).exp()
    expected = torch.zeros_like(log_probs)
    places = lattice.extended.expand(len(log_probs), *lattice.extended.shape)
    expected.scatter_add_(2, places, share)
    return total, log_probs.exp() - expected


def _compute(c: OpKernelConstruction, blank_first: bool) -> Compute:
    loss = _Loss(c, blank_first)

    def compute(
        inputs: torch.Tensor, indices: Any, values: Any, sequence_length: Any
    ) -> Any:
        if inputs.dim() != 3:
            raise invalid_argument("inputs is not a 3-Tensor")
        lengths = np.asarray(sequence_length)
        labels = loss.labels(inputs.shape, indices, values, lengths)
        if not inputs.numel():
            return inputs.new_zeros(inputs.shape[1]), torch.zeros_like(inputs)
        result, gradient = _loss_and_gradient(inputs, labels, lengths, loss)
        return result.to(inputs.dtype), gradient.to(inputs.dtype)

    return compute


@kernel("CTCLoss", host_inputs=_LABELS)
def ctc_loss(c: OpKernelConstruction) -> Compute:
    """(loss [batch], gradient [time, batch, classes])."""
    return _compute(c, blank_first=False)


@kernel("CTCLossV2", host_inputs=_LABELS)
def ctc_loss_v2(c: OpKernelConstruction) -> Compute:
    """CTCLoss whose blank is the first class."""
    return _compute(c, blank_first=True)
