"""The names of `tf.contrib.signal`, which are public elsewhere too."""

from __future__ import annotations

from tensorloom.framework.export import export_value
from tensorloom.signal.cosine import mfccs_from_log_mel_spectrograms
from tensorloom.signal.framing import frame, overlap_and_add
from tensorloom.signal.mel import linear_to_mel_weight_matrix
from tensorloom.signal.short_time import inverse_stft, inverse_stft_window_fn, stft
from tensorloom.signal.windows import hamming_window, hann_window

export_value(frame, "contrib.signal.frame")
export_value(hamming_window, "contrib.signal.hamming_window")
export_value(hann_window, "contrib.signal.hann_window")
export_value(inverse_stft, "contrib.signal.inverse_stft")
export_value(inverse_stft_window_fn, "contrib.signal.inverse_stft_window_fn")
export_value(linear_to_mel_weight_matrix, "contrib.signal.linear_to_mel_weight_matrix")
export_value(
    mfccs_from_log_mel_spectrograms, "contrib.signal.mfccs_from_log_mel_spectrograms"
)
export_value(overlap_and_add, "contrib.signal.overlap_and_add")
export_value(stft, "contrib.signal.stft")
