"""Debug servers: who hears of debugged steps elsewhere, by TensorFlow's calls."""
